"""The tasks of the identity-blinded diagnostic: from tables to pairs of a source and a target, one file a task.

A module here with a ``KIND`` is a task (`registry` lists the folder); the others are what tasks share.
"""

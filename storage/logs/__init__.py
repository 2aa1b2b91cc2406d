"""Logs of other harnesses as tables of answers."""

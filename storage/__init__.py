"""Bytes and tables at rest: journal, response cache, tables of users, run results."""

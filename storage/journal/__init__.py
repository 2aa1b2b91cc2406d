"""Attempts as they happen: append-only segments, locks, the rows in them."""

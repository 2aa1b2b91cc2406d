"""Null distributions on disk: many small chunks, each the same wherever and whenever it is computed."""

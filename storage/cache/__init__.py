"""The response cache: one DuckDB file, opened briefly."""

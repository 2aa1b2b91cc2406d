"""From audit.toml to validated settings; every error names the file, the key and what is allowed."""

"""What a person reads: tables, files, the terminal."""

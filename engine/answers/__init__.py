"""Reply text to numbers, label text to numbers."""

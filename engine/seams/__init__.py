"""How the house grows: a folder is a registry, its files are the members."""

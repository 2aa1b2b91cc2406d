"""The only folder that imports RDKit."""

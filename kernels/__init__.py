"""Arrays in, arrays out: numba. Knows no model, molecule, file or table."""

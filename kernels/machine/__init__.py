"""How kernels become machine code, are kept, and run in threads."""

"""Simulated models and the loopback server that speaks for them."""

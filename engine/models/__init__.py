"""What goes over the wire to a model, and what comes back."""

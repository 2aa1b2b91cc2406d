"""Speed, measured against peers and physical limits in one run."""

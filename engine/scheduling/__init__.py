"""When a call may go out: limits, gates, retries, workers, budget."""

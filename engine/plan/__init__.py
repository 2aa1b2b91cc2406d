"""Settings and items become calls: the one key formula, lanes, estimates."""

"""A whole audit: from audit.toml to the scored cells, in steps that can each be run alone."""

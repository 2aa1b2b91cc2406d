"""Everything that moves: plan, prompts, calls, studies, command line."""

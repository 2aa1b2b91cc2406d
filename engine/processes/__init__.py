"""Child processes: how one is started, told, heard and ended."""

"""The engines beside ours: plain modules, run by whichever Python has the library, without molaudit."""

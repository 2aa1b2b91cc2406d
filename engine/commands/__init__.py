"""One module a command: ``configure(parser)`` declares its options, ``run(args)`` returns its exit code.

Modules here import nothing heavy at the top, so that ``molaudit --help`` answers at once.
"""

"""The command line: `dpsco`, a file a command."""

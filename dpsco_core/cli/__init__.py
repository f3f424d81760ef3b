"""The command line `dpsco`, with one file per command."""

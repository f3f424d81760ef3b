"""The parser of the command line, which imports nothing of the library."""

import argparse
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """An argument parser that reports an error in one sentence and exits with status 2."""

    def error(self, message: str) -> NoReturn:
        """Print the message as one sentence, and exit with status 2."""
        line = " ".join(message.split()).rstrip(".")
        self.exit(2, f"{self.prog}: {line[0].upper()}{line[1:]}.\n")

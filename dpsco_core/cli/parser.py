"""The parser of the command line, which imports nothing of the library but its errors."""

import argparse
import re
from typing import NoReturn

from dpsco_core.base.errors import did_you_mean

_INVALID_CHOICE = re.compile(r"invalid choice: '(?P<value>.*)' \(choose from (?P<names>.*)\)$")


class Parser(argparse.ArgumentParser):
    """An argument parser that reports an error in one sentence and exits with status 2."""

    def error(self, message: str) -> NoReturn:
        """Print the message as one sentence, and exit with status 2."""
        line = " ".join(message.split()).rstrip(".")
        wrong = _INVALID_CHOICE.search(line)
        if wrong:
            names = [name.strip("'\"") for name in wrong["names"].split(", ")]
            question = did_you_mean(wrong["value"], names)
            line = f"{line[:-1]}; {question})" if question else line
        self.exit(2, f"{self.prog}: {line[0].upper()}{line[1:]}.\n")

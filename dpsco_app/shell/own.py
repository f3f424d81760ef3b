"""Methods, bounds and laws of whoever starts the server; a page never adds any."""

import argparse
import sys
from collections.abc import Sequence

from dpsco_core import extend
from dpsco_core.base.errors import InvalidInput


def add_own(arguments: Sequence[str]) -> list[str]:
    """Add what ``--with`` names and packages offer, or end with status 2; return the rest."""
    parser = argparse.ArgumentParser(prog="python -m dpsco_app", allow_abbrev=False, add_help=False)
    parser.add_argument("--with", dest="own", action="append", default=[])
    chosen, others = parser.parse_known_args(arguments)
    try:
        extend.load_installed()
        for path in chosen.own:
            extend.load(path)
    except InvalidInput as problem:
        print(f"dpsco: {problem}", file=sys.stderr)
        sys.exit(2)
    return others

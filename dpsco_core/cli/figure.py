"""The command `dpsco figure`: the panels that a paper's authors would draw, as a PDF."""

import argparse
import importlib.util
import sys
from typing import Any

from dpsco_core.base.errors import require
from dpsco_core.base.parsing import shorten
from dpsco_core.cli.streams import start_child
from dpsco_core.cli.tools import add_command, add_fields, given_fields, read_number, read_whole
from dpsco_core.explain.tables.papers.papers import NO_EXPERIMENTS, PAPERS, reproduced_paper

DEFAULT_SECTION = "1"


def add_figure(commands: Any) -> None:
    """Add the command `figure` to the parser."""
    parser = add_command(commands, "figure", draw_figure)
    parser.description = (
        "Draw the four panels that the authors of a paper would draw, as PDF: the error against n, "
        "d, epsilon, and the tail index p (the items m of users, the exponent q of a norm), with "
        "fitted and predicted slopes. " + NO_EXPERIMENTS
    )
    keys = ", ".join(entry.key for entry in PAPERS)
    parser.add_argument("--like", metavar="KEY", required=True, help=f"the paper: {keys}")
    parser.add_argument("--out", metavar="FILE", required=True, help="the PDF file to write")
    parser.add_argument("--table", metavar="FILE", help="write the slopes as a table of LaTeX too")
    words = "the section of the paper, as `dpsco paper KEY` numbers them (default 1)"
    parser.add_argument("--section", metavar="N", default=DEFAULT_SECTION, help=words)
    add_fields(parser, defaults=False, methods=False)


def draw_figure(chosen: argparse.Namespace) -> int:
    """Check the flags, draw the figure in a process of its own, and return the exit status.

    Raises `InvalidInput` for bad flags.
    """
    section = read_whole("section", read_number("section", chosen.section))
    reproduced_paper(chosen.like).section(section)
    require(chosen.out.endswith(".pdf"), "out", "a file that ends in .pdf", shorten(chosen.out))
    if importlib.util.find_spec("matplotlib") is None:
        install = "pip install 'dpsco-explorer[app]'"
        print(f"dpsco: Figures need the extra 'app': {install}.", file=sys.stderr)
        return 2
    chosen.method = None
    arguments = {name: getattr(chosen, name) for name in ("like", "out", "table", "own", "json")}
    arguments |= {"section": section, "fields": given_fields(chosen)}
    return start_child("dpsco_app.parts.paper_figure", arguments)

"""The command `dpsco page`: a study with sliders as one HTML file, drawn by the dashboard."""

import argparse
from typing import Any

from dpsco_core.cli.streams import start_child


def add_page(commands: Any) -> None:
    """Add the command `page` to the parser."""
    parser = commands.add_parser("page", allow_abbrev=False)
    parser.set_defaults(does=make_page)
    parser.add_argument("file", help="TOML file whose keys are the fields of a scenario")
    parser.add_argument("--out", required=True, metavar="FILE", help="the HTML file to write")
    over_help = "field with a slider beside the axis; may be given twice (default: epsilon)"
    parser.add_argument("--over", action="append", default=[], metavar="FIELD", help=over_help)


def make_page(chosen: argparse.Namespace) -> int:
    """Write the page in a process of its own, and return its exit status."""
    arguments = {name: getattr(chosen, name) for name in ("file", "out", "over", "own")}
    return start_child("dpsco_app.static_page.sliders", arguments)

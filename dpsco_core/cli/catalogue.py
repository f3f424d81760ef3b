"""The command `dpsco catalogue`: the lists of methods, problems, data and bounds."""

import argparse
from typing import Any

from dpsco_core.cli.tools import add_command, format_table, print_json
from dpsco_core.results.report import catalogue_json


def add_catalogue(commands: Any) -> None:
    """Add the command `catalogue` to the parser."""
    add_command(commands, "catalogue", run_catalogue)


def run_catalogue(chosen: argparse.Namespace) -> None:
    """Print all methods, problems, distributions and bounds, as tables or as JSON."""
    catalogue = catalogue_json()
    if chosen.json:
        print_json(catalogue)
        return
    for title, rows in catalogue.items():
        print(f"{title.capitalize()}\n")
        extra = ["privacy", "constant", "laws", "loss_class"]
        columns = ["slug", "name", *(c for c in extra if c in rows[0]), "paper", "statement"]
        header = ["losses" if c == "loss_class" else c for c in columns]
        print(format_table([[str(row[c]) for c in columns] for row in rows], header) + "\n")

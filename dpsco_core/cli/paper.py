"""The command `dpsco paper`: what a paper prints, in numbers at a setting."""

import argparse
from typing import Any

from dpsco_core.base.errors import require
from dpsco_core.cli.streams import require_writable, whole_file
from dpsco_core.cli.tables.paper import paper_latex, print_paper
from dpsco_core.cli.tools import (
    add_command,
    add_fields,
    format_table,
    given_fields,
    print_json,
    read_number,
    read_whole,
)
from dpsco_core.explain.tables.papers.papers import NO_EXPERIMENTS, PAPERS, reproduced_paper
from dpsco_core.explain.tables.papers.statements import paper_json, section_tables


def add_paper(commands: Any) -> None:
    """Add the command `paper` to the parser."""
    parser = add_command(commands, "paper", run_paper)
    parser.description = (
        "Every statement of a paper in numbers: as printed, as proven here, and what its method "
        "does. Each section has a setting of its own, in which the flags change fields. Without "
        "KEY: the papers. " + NO_EXPERIMENTS
    )
    keys = ", ".join(entry.key for entry in PAPERS)
    parser.add_argument("key", metavar="KEY", nargs="?", help=keys)
    parser.add_argument("--section", metavar="N", help="one section, by its number")
    parser.add_argument("--tex", metavar="FILE", help="write the sections as tables of LaTeX too")
    add_fields(parser, defaults=False, methods=False)


def run_paper(chosen: argparse.Namespace) -> None:
    """Print the list of papers, or a paper's statements in numbers.

    Raises `InvalidInput` for bad flags.
    """
    require(chosen.tex is None or chosen.key is not None, "KEY", "given with --tex", "none")
    if chosen.tex is not None:
        require_writable(chosen.tex)
    if chosen.key is None:
        _print_papers(chosen.json)
        return
    entry = reproduced_paper(chosen.key)
    chosen.method = None
    number = None
    if chosen.section is not None:
        number = read_whole("section", read_number("section", chosen.section))
    tables = section_tables(entry, given_fields(chosen), number)
    if chosen.tex is not None:
        with whole_file(chosen.tex) as part:
            part.write_text(paper_latex(entry, tables), encoding="utf-8")
    if chosen.json:
        print_json(paper_json(entry, tables))
    else:
        print_paper(entry, tables)


def _print_papers(as_json: bool) -> None:
    """Print the papers whose statements can be reproduced."""
    if as_json:
        rows = [
            {
                "key": entry.key,
                "title": entry.paper.title,
                "sections": [section.title for section in entry.sections],
            }
            for entry in PAPERS
        ]
        print_json({"papers": rows})
        return
    lines = [
        [entry.key, entry.paper.title, "; ".join(section.title for section in entry.sections)]
        for entry in PAPERS
    ]
    print(format_table(lines, ["paper", "title", "sections"]))

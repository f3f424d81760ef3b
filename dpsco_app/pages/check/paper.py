"""The referee's report as PDF; `dpsco referee --out report.pdf` runs this in a process."""

import json
import sys
from collections.abc import Iterator, Sequence

from dpsco_app.figure.colours import TONES
from dpsco_app.figure.document import QUIET, Block, Grid, Paragraph, Type, document_pdf
from dpsco_core.cli.streams import exit_status, open_streams, whole_file
from dpsco_core.referee.page import mark_of
from dpsco_core.referee.report import Check, Report, reports_of, value_text

SOURCE = "DP-SCO Explorer: a referee's report"
TITLE, HEAD = Type(size=14.0, is_bold=True), Type(size=10.0, is_bold=True)
SOFT, CODE = Type(colour=QUIET), Type(size=6.5, is_code=True)


def report_pdf(reports: Sequence[Report]) -> bytes:
    """Return the referee's reports as the bytes of one PDF."""
    blocks = [block for report in reports for block in _report_blocks(report)]
    return document_pdf(blocks, f"{_titles(reports)}: referee's report", SOURCE)


def _titles(reports: Sequence[Report]) -> str:
    """Return the titles of the reports, separated by commas."""
    return ", ".join(report.title for report in reports)


def _report_blocks(report: Report) -> Iterator[Block]:
    """Yield the blocks of a report for a PDF: claim, conditions, checks, and closing line."""
    yield _heading(report.title, report.verdict, TITLE, space=14.0)
    yield Paragraph(text=report.claim)
    if report.hypotheses:
        yield Paragraph(text=f"If {'; '.join(report.hypotheses)}.", type=SOFT)
    for check in report.checks:
        yield from _check_blocks(check)
    closing = f"Seed {report.seed}, {report.seconds:g} seconds. No check proves a claim."
    yield Paragraph(text=closing, type=SOFT, space=8.0)


def _check_blocks(check: Check) -> Iterator[Block]:
    """Yield the blocks of one check: its verdict, sentence, table and command."""
    yield _heading(check.name, check.verdict, HEAD, space=9.0)
    yield Paragraph(text=check.sentence, space=1.0)
    if check.rows:
        rows = tuple(tuple(map(value_text, row)) for row in check.rows)
        yield Grid(columns=check.columns, rows=rows)
    if check.command:
        yield Paragraph(text=check.command, type=CODE)


def _heading(name: str, verdict: str, kind: Type, *, space: float) -> Paragraph:
    """Return a heading that ends in a verdict, in the verdict's colour.

    `kind` is the type of the text, and `space` the points above the heading.
    """
    ink = TONES[mark_of(verdict)][0]
    text = f"{name}:"
    return Paragraph(
        text=text, type=kind, marked=verdict, mark_colour=ink, space=space, is_heading=True
    )


def main(target: str) -> int:
    """Write the JSON reports on standard input as a PDF file `target`; return the exit status."""
    open_streams()

    def write() -> None:
        """Read the reports from standard input and write the PDF."""
        reports = reports_of(json.load(sys.stdin))
        with whole_file(target) as part:
            part.write_bytes(report_pdf(reports))

    return exit_status(write)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

"""A referee's report on the page: one section for each check, and its files."""

import json
from collections.abc import Sequence
from functools import partial
from html import escape

import streamlit as st

from dpsco_app.figure.colours import QUIET, TONES
from dpsco_app.pages.check.words import screen_words
from dpsco_app.parts.export import download
from dpsco_app.parts.themes import is_dark
from dpsco_core.referee.page import html_page, mark_of
from dpsco_core.referee.report import Check, Report, reports_dict, value_text

STYLE = """<style>
.checked h3 { font-size: 1.05rem; font-weight: 600; padding: 0.6rem 0 0.1rem; margin: 0; }
.checked p { margin: 0; font-size: 0.9375rem; line-height: 1.375rem; }
.checked div { overflow-x: auto; }
.checked table { border-collapse: collapse; font-size: 0.8125rem; margin-top: 0.3rem;
  font-variant-numeric: tabular-nums; }
.checked :is(th, td) { text-align: left; vertical-align: top; padding: 0.2rem 1.2rem 0.2rem 0;
  border: 0; border-bottom: 1px solid rgba(128, 128, 128, 0.25); }
.checked th { font-weight: 400; white-space: nowrap; }
@media (max-width: 760px) {
  .checked td { min-width: 7rem; } .checked td:first-child { min-width: 10rem; }
}
</style>"""


def draw_report(reports: Sequence[Report], answer: str) -> None:
    """Draw every check with its verdict, its numbers and the command that repeats it.

    A check's sentence is left out if it is already part of `answer`, the text above the report.
    """
    st.html(STYLE)
    for report in reports:
        for check in report.checks:
            is_told = screen_words(check.sentence) in answer
            st.html(section(check, dark=is_dark(), has_sentence=not is_told))
            if check.command:
                st.code(check.command, language=None, wrap_lines=True)


def section(check: Check, *, dark: bool, has_sentence: bool = True) -> str:
    """Return a check as HTML, with its sentence only if `has_sentence`.

    Its table scrolls sideways where it is wider than the window.
    """
    quiet = QUIET[dark]
    heads = "".join(
        f"<th scope='col' style='color:{quiet}'>{escape(name)}</th>" for name in check.columns
    )
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(screen_words(value_text(v)))}</td>" for v in row) + "</tr>"
        for row in check.rows
    )
    table = f"<table class='numbers'><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    name = escape(check.name)
    box = f"<div tabindex='0' role='region' aria-label='{name}, numbers'>{table}</div>"
    sentence = f"<p>{escape(screen_words(check.sentence))}</p>"
    tone = TONES[mark_of(check.verdict)][dark]
    return (
        f"<section class='checked'><h3>{name}: <span style='color:{tone}'>{check.verdict}</span>"
        f"</h3>{sentence if has_sentence else ''}{box if rows else ''}</section>"
    )


def draw_files(reports: Sequence[Report]) -> None:
    """Draw the buttons that save the reports as HTML, PDF and JSON."""
    name = "dpsco-claim"
    help_words = "The report as one page, which needs no network."
    download("HTML", partial(html_page, reports), f"{name}.html", key="check_html", help=help_words)
    download("PDF", partial(_pdf, reports), f"{name}.pdf", key="check_pdf")
    download("JSON", partial(_json, reports), f"{name}.json", key="check_json")


def _pdf(reports: Sequence[Report]) -> bytes:
    """Return the reports as the bytes of a PDF."""
    # Importing Matplotlib takes a second, so it waits for the first click.
    from dpsco_app.pages.check.paper import report_pdf

    return report_pdf(reports)


def _json(reports: Sequence[Report]) -> str:
    """Return the reports as JSON."""
    return json.dumps(reports_dict(reports), indent=2, allow_nan=False)

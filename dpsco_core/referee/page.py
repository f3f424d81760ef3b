"""A report as one HTML page that needs no network and prints on two sheets."""

from collections.abc import Sequence
from html import escape

from dpsco_core.referee.report import Check, Report, value_text

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #c9d1d9; --soft: #57606a;
  --bad: #b42318; --warn: #8a5a00; --calm: #1f6f43; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --line: #30363d;
  --soft: #9aa4af; --bad: #ff8f85; --warn: #e3b341; --calm: #6fdd9b; } }
@media print { :root { --ink: #000; --paper: #fff; --line: #aaa; --soft: #444; --bad: #b42318;
  --warn: #8a5a00; --calm: #1f6f43; } body { font-size: 8.5pt; } section { break-inside: avoid; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 62rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.4em; margin: 1.2em 0 .2em; } h2 { font-size: 1.05em; margin: 1em 0 .2em; }
p { margin: .3em 0; } code { overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; font-size: .88em; margin: .4em 0;
  font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .15em .6em .15em 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; } .soft { color: var(--soft); }
.bad { color: var(--bad); } .warn { color: var(--warn); } .calm { color: var(--calm); }
.verdict { font-weight: 600; } .wide { overflow-x: auto; }
"""
MARKS = {
    "refuted": "bad",
    "contradicts": "bad",
    "too few trials": "warn",
    "too few settings": "warn",
    "for information": "soft",
    "not checked": "soft",
}


def html_page(reports: Sequence[Report]) -> str:
    """Return the reports as one HTML document."""
    body = "\n".join(_report_text(report) for report in reports)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(', '.join(r.title for r in reports))}: referee's report</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _report_text(report: Report) -> str:
    """Return one report as the HTML of its headings, checks and settings."""
    conditions = "; ".join(report.hypotheses)
    parts = [
        f"<h1>{escape(report.title)}: {_verdict_text(report.verdict)}</h1>",
        f"<p>{escape(report.claim)}</p>",
        f'<p class="soft">If {escape(conditions)}.</p>' if conditions else "",
        *(_check_text(check) for check in report.checks),
        f'<p class="soft">Seed {report.seed}, {report.seconds:g} seconds. '
        "No check proves a claim.</p>",
    ]
    return "\n".join(part for part in parts if part)


def _check_text(check: Check) -> str:
    """Return a check as HTML, with its table."""
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(value_text(v))}</td>" for v in row) + "</tr>"
        for row in check.rows
    )
    heads = "".join(f"<th>{escape(name)}</th>" for name in check.columns)
    table = f'<div class="wide"><table><tr>{heads}</tr>{rows}</table></div>' if rows else ""
    command = f"<p><code>{escape(check.command)}</code></p>" if check.command else ""
    return (
        f"<section><h2>{escape(check.name)}: {_verdict_text(check.verdict)}</h2>"
        f"<p>{escape(check.sentence)}</p>{table}{command}</section>"
    )


def _verdict_text(verdict: str) -> str:
    """Return a verdict as HTML, with the style class of its meaning."""
    return f'<span class="verdict {mark_of(verdict)}">{escape(verdict)}</span>'


def mark_of(verdict: str) -> str:
    """Return the severity of a verdict (bad, warn, soft or calm), which pages show as a colour."""
    return MARKS.get(verdict, "calm")

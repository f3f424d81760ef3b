"""The referee's report as PDF: complete, within the page's width, with the same bytes each time."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dpsco_app.figure import document
from dpsco_app.figure.document import (
    GAP,
    MARGIN,
    PAGE_HEIGHT,
    WIDTH,
    Type,
    column_widths,
    text_width,
    wrapped_lines,
)
from dpsco_app.pages.check.paper import report_pdf
from dpsco_core.referee.report import Check, Report

LONG = "a claim of many words about the mean error ≤ ε·ρ " * 9
CODE = "dpsco run --method mean.clipped --n 100 " * 6


def report(*, rows: int = 4) -> Report:
    """Return a report of one check with long texts and this number of rows."""
    check = Check(
        name="Measured over claimed",
        verdict="refuted",
        sentence=LONG,
        columns=("setting", "claim", "ratio"),
        rows=tuple((f"student-t n={i} {LONG}", 0.25, math.inf) for i in range(rows)),
        command=CODE,
    )
    return Report(
        title="claim", claim=LONG, hypotheses=("n >= 10*d",), checks=(check,), seed=3, seconds=5
    )


def count_pages(content: bytes) -> int:
    """Return the number of pages of a PDF."""
    (count,) = re.findall(rb"/Count (\d+)", content)
    return int(count)


def test_a_short_report_is_one_page_and_a_long_one_has_more() -> None:
    content = report_pdf([report()])
    assert content.startswith(b"%PDF") and content == report_pdf([report()])
    assert count_pages(content) == 1 < count_pages(report_pdf([report(rows=60)]))


def test_a_document_has_every_word_within_its_margins(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[float, float, str, Type]] = []
    put = document._write_line

    def record(canvas: object, left: float, down: float, text: str, kind: Type) -> None:
        """Note a text and its place, and draw it."""
        drawn.append((left, down, text, kind))
        put(canvas, left, down, text, kind)  # type: ignore[arg-type]

    monkeypatch.setattr(document, "_write_line", record)
    report_pdf([report(rows=60)])
    feet = [text for _, _, text, _ in drawn if "page" in text]
    assert len(feet) > 2 and feet[-1].endswith(f"page {len(feet)} of {len(feet)}")
    lines = [line for line in drawn if line[2] not in feet]
    assert all(left >= MARGIN for left, _, _, _ in lines)
    assert all(left + text_width(text, kind) <= MARGIN + WIDTH + 1 for left, _, text, kind in lines)
    assert all(MARGIN < down <= PAGE_HEIGHT - MARGIN for _, down, _, _ in lines)
    words = " ".join(text for _, _, text, _ in lines).split()
    assert words.count("claim:") == 1 and words.count("refuted") == 2
    assert words.count("student-t") == 60 and words.count("0.25") == 60 == words.count("-")
    assert " ".join(LONG.split()) in " ".join(words) and words.count("dpsco") == 6


def test_the_widest_columns_of_a_table_shrink_to_fit_the_page() -> None:
    kind = Type()
    widths = column_widths([("setting", "claim", "by"), (LONG, "0.25", LONG)], kind)
    assert sum(widths) + 2 * GAP == pytest.approx(WIDTH)
    assert widths[1] == text_width("claim", kind) < widths[0] == widths[2]
    assert column_widths([("a", "b")], kind) == (text_width("a", kind), text_width("b", kind))


def test_a_word_that_is_wider_than_its_column_is_broken_anywhere() -> None:
    kind = Type()
    lines = wrapped_lines("x" * 99, 100.0, kind)
    assert "".join(lines) == "x" * 99 and len(lines) > 2
    assert all(text_width(line, kind) <= 100.0 for line in lines)


def test_a_report_survives_json_except_for_numbers_that_are_not_finite() -> None:
    values = json.loads(json.dumps(report().to_dict(), allow_nan=False))
    restored = Report.from_dict(values)
    assert restored.to_dict() == report().to_dict() and restored.verdict == "refuted"
    assert math.isnan(float(restored.checks[0].rows[0][2]))


def test_an_unwritable_file_gives_one_error(tmp_path: Path) -> None:
    target = tmp_path / "missing" / "report.pdf"
    command = [sys.executable, "-m", "dpsco_app.pages.check.paper", str(target)]
    text = json.dumps({"reports": [report().to_dict()]})
    finished = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert finished.returncode == 2 and "cannot be written" in finished.stderr
    assert finished.stderr.count("\n") == 1

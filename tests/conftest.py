"""Prints the list of deliberate faults with the checks that have found them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

FOUND = "deliberate fault"
LIST = Path(__file__).parent.parent / "test-results" / "mutants.txt"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write what `tests/trust/test_mutants.py` has noted, from all workers, and say how many."""
    reports: list[Any] = terminalreporter.getreports("passed")
    lines = sorted({text for r in reports for name, text in r.user_properties if name == FOUND})
    if not lines:
        return
    LIST.parent.mkdir(exist_ok=True)
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
    terminalreporter.write_sep("-", f"{len(lines)} deliberate faults found out")
    terminalreporter.write_line("The list, with what found each: test-results/mutants.txt")
    if terminalreporter.verbosity > 0:
        for line in lines:
            terminalreporter.write_line(line)

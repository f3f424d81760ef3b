"""The list of deliberate faults that tests find out: none goes unnoticed when code or tests move.

Each line of `killed.txt` is a test that breaks the library on purpose and fails unless the fault is
found. The list is written anew, to be read line by line in the review, by

    WRITE_KILLED=1 python -m pytest tests/test_killed.py
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "killed.txt"
PLACES = ("audit", "methods", "privacy", "trust")
WORDS = "caught or flagged or killed or catches"  # These words occur in the names of such tests.


def faults() -> list[str]:
    """Return the tests that break something, with their cases, as pytest names them."""
    places = [f"tests/{place}" for place in PLACES]
    options = ["-k", WORDS, "-m", "slow or not slow", "-p", "no:cacheprovider"]
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *options, *places],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return sorted(line for line in answer.stdout.splitlines() if "::" in line)


def test_every_fault_of_the_list_has_a_test_that_finds_it() -> None:
    names = faults()
    if os.environ.get("WRITE_KILLED"):
        FILE.write_text("\n".join(names) + "\n", encoding="utf-8")
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert sorted(set(lines) - set(names)) == [], "faults that no test breaks any more"
    assert sorted(set(names) - set(lines)) == [], "faults to be added to killed.txt"

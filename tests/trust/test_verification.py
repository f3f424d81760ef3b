"""The page on verification is what the tests say."""

from __future__ import annotations

import os

from tests.trust import checks
from tests.trust.mutants import FAULTS
from tests.trust.verification import CHECKS, COMMAND, PAGE, page


def test_the_page_is_what_the_tests_say() -> None:
    if os.environ.get("WRITE_VERIFICATION"):
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(), f"out of date; run {COMMAND}"


def test_every_check_is_described_and_kills_something() -> None:
    assert set(CHECKS) == set(checks.CHECKS) == {fault.check for fault in FAULTS}

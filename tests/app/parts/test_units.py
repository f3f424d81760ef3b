"""A number and its unit stay on one line in every sentence with measurements."""

from __future__ import annotations

import re

from dpsco_app.parts.options import with_units
from tests.app.places.test_one_run import open_at


def test_only_a_number_and_its_unit_are_joined() -> None:
    texts = {
        "13 % of 20": "13_% of 20",
        "in 2 s": "in 2_s",
        "10 simple": "10 simple",
        "4 MB.": "4_MB.",
    }
    for text, joined in texts.items():
        assert with_units(text).replace("\N{NO-BREAK SPACE}", "_") == joined


def test_the_answer_of_a_lesson_has_no_break_before_a_percent_sign() -> None:
    page = open_at("learn", lesson="clipping", answers="clipping:some")
    verdicts = [box.value for box in (*page.success, *page.info)]
    assert any("\N{NO-BREAK SPACE}%" in text for text in verdicts)
    written = [*verdicts, *(m.value for m in page.markdown)]
    assert not [text for text in written if re.search(r"\d[*]* %", text)]

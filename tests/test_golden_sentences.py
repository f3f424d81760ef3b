"""Every golden sentence is expected by some test."""

import re
from pathlib import Path

from tests.golden_sentences import GOLDEN

TESTS = Path(__file__).parent


def test_every_golden_sentence_is_expected_somewhere() -> None:
    sources = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")]
    users = [text for text in sources if "import GOLDEN" in text]
    expected = {key for text in users for key in re.findall(r'GOLDEN\["([^"]+)"\]', text)}
    assert expected == GOLDEN.keys()


def test_no_sentence_is_golden_twice() -> None:
    assert len(set(GOLDEN.values())) == len(GOLDEN)

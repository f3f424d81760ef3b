"""What docs/scaling.md says of caches is what the code keeps."""

import re
from pathlib import Path

from dpsco_app.front.questions.cards import cards_of
from dpsco_app.front.questions.records import records_html
from dpsco_app.front.screen import front_screen
from dpsco_app.pages.privacy import audit
from dpsco_app.parts import evaluations
from dpsco_app.runs import stored
from dpsco_app.session import cells, computed
from dpsco_core.explain import anatomy

ROOT = Path(__file__).resolve().parents[2]
SIZE = re.compile(r"(?:maxsize|max_entries)=([0-9_]+)")
NUMBER = re.compile(r"\d[\d,]*")


def promised(row: str) -> list[int]:
    """Return the numbers that the table of caches states in the last column of a cache's row."""
    text = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("| ") and row in line]
    numbers = NUMBER.findall(line.strip("| ").rpartition("|")[2])
    return [int(number.replace(",", "")) for number in numbers]


def sizes(folder: str) -> set[int]:
    """Return the sizes of all caches in a file, or in the files of a folder."""
    paths = (ROOT / folder).rglob("*.py") if (ROOT / folder).is_dir() else [ROOT / folder]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return {int(size) for text in texts for size in SIZE.findall(text)}


def test_the_caches_that_the_documentation_names_are_as_large_as_it_says() -> None:
    assert promised("cells.outcome_of") == [cells.KEPT_CELLS]
    assert promised("screen.front_screen") == [front_screen.cache_info().maxsize]
    assert promised("cards.cards_of") == [cards_of.cache_info().maxsize]
    assert promised("records.records_html") == [records_html.cache_info().maxsize]
    assert promised("evaluations._evaluation") == [evaluations._evaluation.cache_info().maxsize]
    assert promised("anatomy._starting_risk") == [anatomy._starting_risk.cache_info().maxsize]
    assert promised("stored._served_outcomes") == [stored._served_outcomes.cache_info().maxsize]
    assert promised("audit._stored_audits") == [audit.KEPT_AUDITS]


def test_the_documented_ranges_cover_all_other_caches() -> None:
    pages = sizes("dpsco_app/pages")
    assert promised("what the other pages compute") == [min(pages), max(pages)]
    cache_sizes = sizes("dpsco_app/session/computed.py")
    *ends, split = promised("what One run and the lessons compute")
    assert split == max(cache_sizes) == computed.error_split.cache_info().maxsize
    assert ends == [min(cache_sizes), max(cache_sizes - {split})]
    core = sizes("dpsco_core")
    assert promised("`lru_cache` in `dpsco_core` |") == [min(core), max(core)]

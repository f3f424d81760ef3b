"""The referee on statements that are known to be false, and on bounds that are proven.

The page docs/referee.md shows what it finds.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from dpsco_core.bounds import Bound
from dpsco_core.catalogue import BOUNDS
from dpsco_core.explain.errata import ERRATA, erratum
from dpsco_core.referee.claims import Submission
from dpsco_core.referee.places import start_of, wide_places
from dpsco_core.referee.rivals import class_setting
from dpsco_core.referee.run import referee
from dpsco_core.referee.search import SearchResult, describe, search
from dpsco_core.scenario import Scenario
from tests.folded import each, one_in
from tests.golden_sentences import GOLDEN
from tests.referee.labelled import UNSEEN, Labelled, visible
from tests.referee.labelled_kamath import KAMATH
from tests.referee.labelled_lowy import LOWY
from tests.referee.labelled_su_arora import SU_ARORA
from tests.referee.labelled_zhao import ZHAO

PAGE = Path(__file__).resolve().parents[2] / "docs" / "referee.md"
HEADING = "## The blind check"
COMMAND = 'WRITE_REFEREE=1 python -m pytest -m slow tests/referee/test_blind.py -k "page"'
FALSE: tuple[Labelled, ...] = (*KAMATH, *ZHAO, *SU_ARORA, *LOWY)
ALL = list(range(len(FALSE)))
# The check of each of these rows takes seconds.
LONG = ("kamath.smoothing-noise", "su.surface-area", "su.table-2")
QUICK = [place for place in ALL if FALSE[place].erratum not in LONG][::2]
LEAST_SHARE = 0.8
UPPER_ROWS, LOWER_ROWS = 20, 10
SETTINGS = 9  # The number of settings, at one of which a row's hypotheses have to hold.
SECONDS = 4.0


@cache
def search_of(place: int) -> SearchResult:
    """Return the result of the search for a counterexample to the false claim at this place."""
    return search(FALSE[place].statement)


def proven(kind: str) -> list[Bound]:
    """Return the rows of a kind whose constants are proven, for private algorithms."""
    return [
        row
        for row in BOUNDS
        if (row.card.kind, row.card.constant, row.card.guarantee)
        == (kind, "explicit", "expectation")
        and row.card.privacy != "none"
        and row.hypotheses
        and not row.card.of_law
    ]


def is_tried(row: Bound) -> bool:
    """Whether the row's hypotheses hold at one of the first SETTINGS points near the default
    scenario.
    """
    points = islice(wide_places(start_of(row, Scenario())), SETTINGS)
    return any(not row.failures(class_setting(point)) for point in points)


@cache
def true_rows() -> tuple[Bound, ...]:
    """Return rows of both kinds, evenly spaced in the catalogue."""
    rows: list[Bound] = []
    for kind, count in (("upper", UPPER_ROWS), ("lower", LOWER_ROWS)):
        candidates = [row for row in proven(kind) if is_tried(row)]
        rows += [candidates[i * len(candidates) // count] for i in range(count)]
    return tuple(rows)


def test_every_erratum_that_a_search_can_refute_is_a_statement() -> None:
    assert Counter(one.erratum for one in FALSE) == Counter(e.slug for e in visible())
    runnable = {e.slug for e in ERRATA if e.experiment is not None}
    assert set(UNSEEN) <= runnable


def test_statements_have_neutral_slugs_and_texts() -> None:
    assert {(one.statement.slug, one.statement.text) for one in FALSE} == {
        ("a-statement", GOLDEN["an inequality in words"])
    }


@pytest.mark.parametrize("places", one_in(2, [QUICK, ALL]), ids=len)
def test_at_least_four_of_five_false_statements_are_refuted(places: Sequence[int]) -> None:
    refuted = [search_of(place).refutes for place in places]
    assert sum(refuted) >= LEAST_SHARE * len(places)


@pytest.mark.parametrize("places", one_in(2, [QUICK, ALL]), ids=len)
def test_counter_examples_lie_inside_the_printed_conditions(places: Sequence[int]) -> None:
    for place in places:
        check_counter_example(place)


def check_counter_example(place: int) -> None:
    """Check that the counterexample to the false claim at this place is in its ranges and refutes
    it.
    """
    statement, result = FALSE[place].statement, search_of(place)
    assert result.point is not None and statement.allows(result.point)
    for name, span in statement.ranges.items():
        assert span.low <= result.point[name] <= span.high
    if statement.constant == "explicit" and result.refutes:
        assert statement.smaller(**result.point) > statement.larger(**result.point)


@pytest.mark.slow
@each("place", range(UPPER_ROWS + LOWER_ROWS))
def test_a_proven_row_is_not_refuted(place: int) -> None:
    row = true_rows()[place]
    submission = Submission(methods=(), bounds=(row,), inequalities=())
    (report,) = referee(submission, seconds=SECONDS)
    wrong = [c for c in report.checks if c.verdict in ("refuted", "contradicts")]
    assert not wrong, [(row.card.slug, c.name, c.sentence, c.rows) for c in wrong]
    assert report.verdict != "not checked", row.card.slug


def table_row(place: int) -> str:
    """Return the row of Markdown on the false claim at this place."""
    entry, result = erratum(FALSE[place].erratum), search_of(place)
    assert result.point is not None
    if result.growth:
        numbers = ", ".join(f"{ratio:.3g}" for ratio in result.growth)
        verdict = "contradicts" if result.refutes else "**not refuted**"
        evidence = f"hidden constant at least {numbers} in three nested ranges"
    else:
        verdict = "refuted" if result.refutes else "**not refuted**"
        sides = f"{result.smaller:.4g} > {result.larger:.4g}"
        evidence = f"{describe(result.point)}: {sides}"
    return f"| `{entry.slug}` | {entry.severity} | {verdict} | {evidence} |"


def generated() -> str:
    """Return the part of the page that tests write."""
    refuted = sum(search_of(place).refutes for place in range(len(FALSE)))
    slugs = ", ".join(f"`{row.card.slug}`" for row in true_rows())
    unseen = " ".join(f"`{slug}`: {reason}." for slug, reason in sorted(UNSEEN.items()))
    runnable = sum(entry.experiment is not None for entry in ERRATA)
    loose = runnable - len(FALSE) - len(UNSEEN)
    parts = [
        HEADING,
        f"Of the errata of the five papers {runnable} have an experiment; {loose} of these "
        f"statements are true and loose, and {len(UNSEEN)} cannot be seen by evaluation. {unseen} "
        f"The other {len(FALSE)} statements were put as inequalities, with the ranges and the "
        "printed conditions of each and without its name. Whoever wrote them down knew the errata, "
        "so that the check is blind to where a statement fails, not to how it is put. "
        f"The referee refutes or contradicts {refuted} of {len(FALSE)} "
        f"({100 * refuted / len(FALSE):.0f} %), each within seconds. A logarithm that is missing "
        "grows too slowly for three nested ranges: what is missed is of that kind.",
        "\n".join(
            [
                "| statement | erratum | verdict | evidence |",
                "|---|---|---|---|",
                *(table_row(place) for place in range(len(FALSE))),
            ]
        ),
        f"Of {len(true_rows())} proven rows of the catalogue it refutes none, and contradicts "
        f"none: {slugs}.",
        f"The test suite writes this section, and fails where it is out of date:\n\n    {COMMAND}",
    ]
    return "\n\n".join(parts) + "\n"


@pytest.mark.slow
def test_the_page_is_what_the_referee_finds() -> None:
    text = PAGE.read_text(encoding="utf-8")
    prose = text.partition(HEADING)[0]
    if os.environ.get("WRITE_REFEREE"):
        PAGE.write_text(prose + generated(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == prose + generated(), f"out of date; run {COMMAND}"

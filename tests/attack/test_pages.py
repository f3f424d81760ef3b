"""Every page at hostile addresses draws itself, names the error, and starts no large work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from dpsco_app.parts import folding
from dpsco_app.session.cells import forget_outcomes
from dpsco_app.shell.names import PLACES, WHY
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.runs.memory import bytes_held
from dpsco_core.runs.study import Cell, Outcome
from tests.attack.nasty import LIKELY, NASTY, picked, queries
from tests.attack.test_readers import DASHBOARD_BYTES, LONGEST_SHOWN, hunt, texts_for

SCRIPT = """
import streamlit as st
from dpsco_app.parts import glossary
from dpsco_app.shell import teaching
from dpsco_app.shell.main import DRAW
st.set_page_config(layout="wide")
teaching.apply(teaching.take())
DRAW["{0}"]()
glossary.draw_glossary()
"""
# Addresses that once broke a page, and similar ones.
NASTY_ADDRESSES: tuple[tuple[str, dict[str, str]], ...] = (
    ("learn", {"m": "1", "lesson": "the-mean", "answers": "heavy-tails"}),
    ("one-run", {"methods": "none"}),
    ("one-run", {"methods": "sco.clipped", "n": "1", "problem": "linear", "tuning": "theory"}),
    ("who-wins", {"methods": ""}),
    ("explore", {"methods": "", "axis": "q"}),
    ("explore", {"n": "1", "delta": "5e-324"}),
    ("explore", {"n": "1", "delta": "1e-100", "methods": "mean.iterative"}),
    ("explore", {"seed": str(2**63 - 1), "pin": "seed=9007199254740992"}),
    ("learn", {"lesson": "\x00"}),
    ("bounds", {"problem": "mean", "epsilon": "5e-324"}),
    ("privacy", {"part": "audit", "runs": "201"}),
    ("lower-bounds", {"n": "1e400", "rho": "nan"}),
    ("users", {"also": "user.accelerated,,,", "seed": str(2**63 - 1)}),
    ("geometry", {"turn": "nan", "q": "inf"}),
    ("methods", {"method": "<script>"}),
    ("check", {"claim": "<script>\x00" * 20, "hypotheses": "n >= ["}),
    ("check", {"claim": "n^n^n^n", "method": "user.phased-sgd", "rate": "maybe"}),
    ("check", {"claim": "sqrt(d/n)", "rho": "1e-12", "problem": "linear", "geometry": "l1"}),
)


@pytest.fixture
def cells_run(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Cell]]:
    """Let no cell of a study run; yield the list of the cells that would have run."""
    cells: list[Cell] = []

    def record_cell(cell: Cell) -> Outcome:
        """Record a cell, and return an outcome with error 1 without running it."""
        cells.append(cell)
        return Outcome(
            method=cell.method, x=cell.x, trial=cell.trial, error=1.0, seconds=0.0, spent=None
        )

    monkeypatch.setattr("dpsco_app.session.cells.run_cell", record_cell)
    monkeypatch.setattr(folding, "is_open", lambda _: True)  # Collapsed sections are drawn as well.
    yield cells
    forget_outcomes()


def visit(slug: str, query: dict[str, str]) -> AppTest:
    """Open a page at an address; check that it draws itself and shows no long sentence."""
    page = AppTest.from_string(SCRIPT.format(slug), default_timeout=120)
    for name, value in query.items():
        if name and name not in ("embed", "embed_options"):
            page.query_params[name] = value
    page.run()
    assert not page.exception, (slug, query, page.exception[0].stack_trace[-3:])
    for message in (*page.warning, *page.error):
        assert len(message.value) < LONGEST_SHOWN, (slug, query, message.value)
        assert message.value.isprintable() or "\n" in message.value
    return page


def check_work(cells: list[Cell]) -> None:
    """Check that what was run is within the dashboard's limits."""
    assert len(cells) <= 2 * DASHBOARD.cells
    for point in {cell.point for cell in cells}:
        point.validate(DASHBOARD)
        assert bytes_held(point) < DASHBOARD_BYTES
    cells.clear()


def is_fast(slug: str, query: dict[str, str]) -> bool:
    """Whether a page draws itself quickly; the page One run is slow at its default methods, which
    it runs.
    """
    return slug == "explore" or (slug == "one-run" and query.get("methods") != "none")


@pytest.mark.parametrize(
    ("slug", "query"),
    [
        pytest.param(s, q, marks=() if is_fast(s, q) else pytest.mark.slow, id=f"{s}-{i}")
        for i, (s, q) in enumerate(NASTY_ADDRESSES)
    ],
)
def test_a_page_draws_itself_at_each_known_hostile_address(
    slug: str, query: dict[str, str], cells_run: list[Cell]
) -> None:
    visit(slug, query)
    check_work(cells_run)


def parameters(slug: str) -> dict[str, Any]:
    """Return plausible and hostile values of a page's parameters."""
    return {
        **LIKELY,
        **({} if slug == WHY else texts_for(slug)),  # The page for a first visit has no state.
        "hide": picked(["run", "x"]),
        "type": picked(["large", "x"]),
    }


@pytest.mark.slow
@pytest.mark.parametrize("slug", PLACES)
def test_a_page_draws_itself_at_any_address(slug: str, cells_run: list[Cell]) -> None:
    # A megabyte does not fit into the address of a request, so such examples are skipped.
    def fits(query: dict[str, str]) -> bool:
        """Return whether a browser would send a query of this length."""
        return sum(len(name) + len(value) for name, value in query.items()) < 60_000

    values = parameters(slug)

    def check(query: dict[str, str]) -> None:
        """Open the page at a query, and check the cells that it runs."""
        visit(slug, query)
        check_work(cells_run)

    hunt(40, queries(values).filter(fits) | st.just({}), check)


@pytest.mark.slow
@pytest.mark.parametrize("slug", PLACES)
def test_a_page_draws_itself_with_every_nasty_text_in_every_parameter(
    slug: str, cells_run: list[Cell]
) -> None:
    names = list(parameters(slug))
    for number, text in enumerate(t for t in NASTY if len(t) < 20_000):
        chosen = (names[number % len(names)], names[(7 * number + 3) % len(names)])
        visit(slug, dict.fromkeys(chosen, text))
        check_work(cells_run)

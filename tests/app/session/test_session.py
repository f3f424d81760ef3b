"""A session answers every event with one screen, whose parts all describe the same runs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from dpsco_app.figure.theme import COMPACT, Theme
from dpsco_app.front import links
from dpsco_app.front.address import PageView
from dpsco_app.front.answer import answer, question
from dpsco_app.front.study import Study, chosen_point, place
from dpsco_app.front.titles import settings_text
from dpsco_app.front.view import ADDRESS
from dpsco_app.parts.options import rounded
from dpsco_app.session import curves
from dpsco_app.session.scenarios import Page, Use
from dpsco_app.session.screen import Screen
from dpsco_app.session.session import CURVES, NOTION, Session
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.runs.study import Cell, Outcome, cells, run_cell
from tests.test_architecture import imported, modules

SMALL = "problem=mean&methods=mean.sample,mean.clipped&axis=n&grid=50,100&n=100&d=2&trials=2"
ADDRESSES = (
    SMALL,
    f"{SMALL}&against=none",
    f"{SMALL}&against=tail&measure=price",
    f"{SMALL}&epsilon=0.5&panel=both",
    f"{SMALL}&n=abc&eps=1",
    f"{SMALL}&pin={urlencode({'x': SMALL.replace('trials=2', 'trials=1')})[2:]}",
    "problem=mean&methods=mean.sample,mean.adaptive&axis=none&n=60&d=3&trials=2&panel=second",
    "problem=quadratic&methods=sco.erm,sco.clipped&axis=n&grid=50,80&n=50&d=2&trials=1",
)
CHANGES: dict[str, tuple[Any, ...]] = {
    "epsilon": (0.5, 1, 2),
    "d": (1, 2, 5),
    "p": (2, 3, 6),
    "trials": (1, 2, 3),
    "n": (50, 100, 200),
    "axis": (None, "n", "d"),
    "grid": ((50, 100), (20, 50), (100,)),
    "methods": (("mean.sample", "mean.clipped"), ("mean.clipped",), ("sco.erm",), ()),
    "distribution": ("gaussian", "pareto", "hypercube"),
    "offset": (0, 1),
    "diameter": (1, 10),
    "geometry": ("l2", "l1"),
    "problem": ("mean", "quadratic"),
    NOTION: ("approx", "zcdp", "pure"),
}
VIEWS: dict[str, tuple[str, ...]] = {
    "measure": ("error", "price"),
    "panel": ("auto", "both", "first", "second"),
    "against": ("none", "hardest", "tail"),
    "show": ("", "lower bounds", "upper bounds,rates"),
}
THEMES = (Theme(), Theme(dark=True, size=COMPACT))
# The largest number of cells of a study in these tests; the usual axes would take too long.
LARGEST = 300


def play(session: Session, random: Random) -> str:
    """Do a random action in a session; return its description."""
    kind = random.choice(("open", "change", "change", "change", "look", "look", *EVENTS))
    if kind == "open":
        kind = random.choice(ADDRESSES)
        session.open(CURVES, dict(parse_qsl(kind)))
    elif kind == "change":
        field = random.choice(list(CHANGES))
        value = random.choice(CHANGES[field])
        session.change(field, value)
        return f"{field} = {value}"
    elif kind == "look":
        name = random.choice(list(VIEWS))
        changes: dict[str, Any] = {name: random.choice(VIEWS[name])}
        session.look(CURVES, replace(session.view, **changes))
        return f"{changes}"
    else:
        EVENTS[kind](session)
    return kind


def some_cells(count: int) -> Callable[[Session], object]:
    """Return an event that lets a session compute this many cells and then stop."""

    def work(session: Session) -> None:
        """Compute this many cells of a session."""
        left = iter(range(count))
        session.work(lambda: next(left, None) is None)

    return work


EVENTS: dict[str, Callable[[Session], object]] = {
    "run": Session.press_run,
    "cancel": Session.cancel,
    "pin": Session.pin,
    "unpin": Session.unpin,
    "a cell": some_cells(0),
    "five cells": some_cells(4),
    "all cells": some_cells(LARGEST),
}


@cache
def error_of(cell: Cell) -> float:
    """Run a cell; return its error."""
    return run_cell(cell).error


def check(session: Session, theme: Theme) -> Screen:
    """Check that all parts of a screen describe one moment; return the screen."""
    screen = session.screen(theme)
    front, view = screen.front, screen.view
    own_part, *companions = screen.result.parts
    outcomes_of = {part.scenario: part.outcomes for part in (own_part, *companions)}
    for study in screen.studies:
        check_runs(study, outcomes_of[study.scenario])
        if study.overlay is not None:
            check_runs(study.overlay, outcomes_of[study.overlay.scenario])
    # The headline, its small print and its price agree.
    reply = answer(screen.studies)
    assert front.answer == reply
    heading = re.search(r"<h2>(.*?)</h2>", front.head)
    assert heading is not None
    if screen.is_old:  # An outdated screen attributes no measured number to the new settings.
        assert re.search("Measuring|Not measured yet|cannot be run", heading[1])
    first_study = screen.studies[0]
    small = "".join(text for text, _ in front.answer.small)
    if " (n = " in small.replace("\xa0", " "):
        assert settings_text(first_study.scenario, chosen_point(first_study.scenario)) in small
    # The effect of the last change replaces the question.
    assert (session.because and session.because in front.head) or (
        question(screen.studies) in front.head
    )
    # The figure and the table show the same numbers.
    drawn_studies = screen.studies
    if not screen.has_room:
        drawn_studies = drawn_studies[-1:] if view.panel == "second" else drawn_studies[:1]
    assert len(front.figure.panels) == len(drawn_studies)
    for study, panel in zip(drawn_studies, front.figure.panels, strict=True):
        lines = {line.key: line for line in panel.lines if line.kind == "measured"}
        methods = {m for m in lines if not m.endswith(", pinned")}
        assert methods <= set(study.scenario.methods)
        assert not methods or [x for x, _ in panel.x.ticks] == list(study.scenario.grid)
        for method in methods:
            rows = {place(row.x): row for row in study.rows(method)}
            for x, y in zip(lines[method].x, lines[method].y, strict=True):
                price = rows[x].price
                value = rows[x].mean if view.measure == "error" else price and price.value
                # A smaller value is drawn at the lower edge.
                assert y == value or (value is not None and value < y)
    ladder = {row.key: row.values for row in front.figure.ladder.rows}
    for i, study in enumerate(screen.studies):
        row = study.row_at(study.lead, chosen_point(study.scenario))
        if view.measure == "error" and row is not None and study.lead in ladder:
            assert ladder[study.lead][i] == rounded(row.mean)
    # Everything outdated is marked, and everything else belongs to the address's settings.
    marks = (" before'" in front.head, front.figure.faded, " before'" in front.table)
    assert set(marks) == {screen.is_old}, marks
    scenario, wrong = links.read(screen.address)
    assert not wrong and ADDRESS.from_query(screen.address)[1] == []
    if not screen.refused:
        assert scenario == screen.current_scenario
        assert ADDRESS.from_query(screen.address)[0] == view
        assert screen.is_old or screen.current_scenario == scenario
    assert not (screen.refused and screen.is_running)
    return screen


def check_runs(study: Study, outcomes: tuple[Outcome, ...]) -> None:
    """Check that a panel shows exactly the runs of its scenario."""
    cells_by_key = {(c.method, c.x, c.trial): c for c in cells(study.scenario)}
    assert {(o.method, o.x, o.trial) for o in study.outcomes} <= cells_by_key.keys()
    assert set(map(id, study.outcomes)) <= set(map(id, outcomes))
    for o in study.outcomes:
        error = error_of(cells_by_key[o.method, o.x, o.trial])
        assert o.error == error or o.not_applicable


def finish(session: Session) -> None:
    """Start the runs of a session and work until none is left."""
    session.press_run()
    while session.work(lambda: False):
        pass


def play_sequence(seed: int) -> None:
    """Do random actions in a session, and check it after each; report a failure with its story."""
    random, session, story = Random(seed), Session(DASHBOARD), list[str]()
    session.open(CURVES, dict(parse_qsl(random.choice(ADDRESSES))))
    for _ in range(random.randint(3, 9)):
        story.append(play(session, random))
        if session.scenario.cells > LARGEST:
            session.open(CURVES, dict(parse_qsl(SMALL)))
            story.append("a small one")
        try:
            check(session, random.choice(THEMES))
        except AssertionError as fault:
            raise AssertionError(f"{seed}: {story}") from fault
    if session.curves.refused:
        session.open(CURVES, session.screen(Theme()).address)
    finish(session)
    session.because = ""  # A link does not describe earlier changes.
    reopened = Session(DASHBOARD)
    reopened.open(CURVES, session.screen(Theme()).address)
    finish(reopened)
    for theme in THEMES:
        played, linked = check(session, theme), check(reopened, theme)
        assert not played.is_old and not played.is_running, f"{seed}: {story}"
        same = played.front == linked.front and (played.notes, played.panel) == (
            linked.notes,
            linked.panel,
        )
        assert same, f"{seed}: {story}"
        assert (played.address, played.finished, played.cells) == (
            linked.address,
            linked.finished,
            linked.cells,
        )


@pytest.mark.parametrize(
    ("first_seed", "end_seed"),
    [(0, 25), *(pytest.param(k, k + 95, marks=pytest.mark.slow) for k in range(25, 500, 95))],
)
def test_no_part_of_a_screen_is_older_than_another_whatever_has_happened(
    first_seed: int, end_seed: int
) -> None:
    """A sequence of actions ends in the same screen as the link to its last settings."""
    for seed in range(first_seed, end_seed):
        play_sequence(seed)


def knows_a_host(module: str, source: str) -> list[str]:
    """Return a module's imports of Streamlit, Plotly, a page, the shell or a widget."""
    hosts: tuple[str, ...] = ("streamlit", "plotly", "pandas", "dpsco_app.pages", "dpsco_app.shell")
    hosts += ("dpsco_app.runs", "dpsco_app.static_page", "dpsco_app.parts.controls")
    return [
        f"{module}:{line} imports {name}"
        for name, line in imported(module, source)
        if name.startswith(hosts)
    ]


def test_the_session_imports_neither_streamlit_nor_the_shell() -> None:
    sources = {m: s for m, s in modules().items() if m.startswith("dpsco_app.session.")}
    assert len(sources) > 5
    faults = [fault for module, source in sources.items() for fault in knows_a_host(module, source)]
    assert not faults, "\n".join(faults)
    for wrong in ("import streamlit as st", "from dpsco_app.shell import visit"):
        assert knows_a_host("dpsco_app.session.session", wrong)
    assert not knows_a_host("dpsco_app.session.session", "from dpsco_app.front import links")


def test_a_session_runs_without_streamlit() -> None:
    script = (
        "import sys; from dpsco_app.session.session import CURVES, Session\n"
        "from dpsco_app.figure.theme import Theme; from dpsco_core.base.limits import DASHBOARD\n"
        "from urllib.parse import parse_qsl\n"
        "s = Session(DASHBOARD); s.open(CURVES, dict(parse_qsl(sys.argv[1])))\n"
        "while s.work(lambda: False): pass\n"
        "assert s.screen(Theme()).is_complete\n"
        "print(*sorted({'streamlit', 'plotly', 'pandas'} & set(sys.modules)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, SMALL], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout.strip()) == (0, ""), ended.stderr


def open_session(address: str) -> Session:
    """Return a session that has opened an address."""
    session = Session(DASHBOARD)
    session.open(CURVES, dict(parse_qsl(address)))
    return session


def test_the_previous_run_stays_and_is_marked_until_enough_of_the_new_run_is_done() -> None:
    session = open_session(f"{SMALL}&against=none")
    finish(session)
    session.change("p", 6)
    session.press_run()
    some_cells(0)(session)
    young = session.screen(Theme())
    assert young.is_old and young.is_running and young.scenario.p == 2
    assert (young.finished, young.cells, young.status) == (1, 8, "1 of 8 runs")
    some_cells(3)(session)  # Each method has one trial at each point.
    grown = session.screen(Theme())
    assert not grown.is_old and grown.is_running and grown.scenario.p == 6
    session.cancel()
    assert session.screen(Theme()).status.startswith("Stopped at 5 of 8 runs")


def test_a_finished_run_starts_no_other_run() -> None:
    session = open_session(f"{SMALL}&against=none")
    finish(session)
    session.change("epsilon", 2)
    session.press_run()
    some_cells(0)(session)
    session.cancel()
    session.change("epsilon", 1)
    assert session.screen(Theme()).is_complete
    session.change("epsilon", 2)
    assert not session.curves.is_running


def test_settings_that_a_page_cannot_show_are_dropped_when_the_page_is_left() -> None:
    session = open_session(SMALL)
    old_scenario = session.visit_scenario
    session.change("methods", ())
    assert session.scenario.methods == () and session.visit_scenario == old_scenario
    assert links.read(session.screen(Theme()).address)[0] == old_scenario
    session.leave()
    session.open(CURVES, {})
    assert session.scenario == old_scenario and not session.curves.refused


def test_a_field_that_another_one_hides_comes_back_with_its_value() -> None:
    session = open_session(f"{SMALL}&epsilon=2&delta=1e-4")
    session.change(NOTION, "zcdp")
    assert (session.scenario.epsilon, session.scenario.rho) == (None, 0.1)
    session.change(NOTION, "pure")
    assert (session.scenario.epsilon, session.scenario.delta) == (2, 0)
    session.change(NOTION, "approx")
    assert (session.scenario.epsilon, session.scenario.delta) == (2, 1e-4)
    assert session.value("rho") == 0.1


def test_finished_runs_cost_nothing_and_are_not_refused_by_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session(DASHBOARD, runs_all=True)
    session.open(CURVES, dict(parse_qsl(SMALL)))
    session.work(lambda: False)
    session.change("epsilon", 2.0)
    session.work(lambda: False)
    assert session.screen(Theme()).is_complete

    def price(*_: Any, **__: Any) -> Any:
        """Fail, since finished runs have no price."""
        raise AssertionError("Somebody has asked for the price of what has run.")

    for name in ("estimate", "refusal"):
        monkeypatch.setattr(curves, name, price)
    session.change("epsilon", 1.0)
    assert session.screen(Theme()).is_complete and session.scenario.epsilon == 1
    with pytest.raises(AssertionError, match="price"):
        session.change("d", 5)


def test_another_budget_keeps_the_points_that_fit_and_the_old_budget_restores_the_others() -> None:
    session = Session(DASHBOARD)
    session.open(CURVES, {"d": "20"})
    usual = session.scenario.grid
    session.change("d", 50)
    fitting = session.scenario.grid
    assert set(fitting) < set(usual)
    session.change("epsilon", 2.0)
    assert session.scenario.grid == fitting
    session.change(NOTION, "zcdp")
    assert session.scenario.grid == fitting
    session.change("d", 20)
    assert session.scenario.grid == usual


def test_settings_with_the_runs_of_others_are_refused_all_the_same() -> None:
    """A sweep without an axis lists no cells, and is refused whatever cells of others are kept."""
    session = Session(DASHBOARD, runs_all=True)
    session.open(CURVES, {"axis": "none", "n": "60", "d": "3", "trials": "2"})
    session.work(lambda: False)
    session.change("grid", (50, 100))
    assert session.curves.refused.startswith("grid must be left out without an axis")


def test_a_complete_address_replaces_everything_except_a_study_without_an_address() -> None:
    session, empty_page = Session(DASHBOARD), Page(name="elsewhere", default=PageView(), use=Use())
    session.open(CURVES, {"d": "5"})
    session.open(empty_page, {})
    session.open(CURVES, {})
    assert session.scenario.d == 5
    session.open(empty_page, {})
    session.open(CURVES, {}, is_whole=True)
    assert session.scenario.d != 5
    large = replace(links.BASE, trials=100_000)
    session.show_stored(large, ())
    assert session.curves.is_read_only
    session.open(empty_page, {})
    session.open(CURVES, {}, is_whole=True)
    assert session.curves.is_read_only and session.scenario == large

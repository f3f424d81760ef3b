"""A visit of the page without a server: moves, runs and screens, as plain values."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from html import escape, unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from dpsco_app.front import links
from dpsco_app.front.story import TO_CURVES
from dpsco_app.front.view import ADDRESS
from dpsco_app.parts.presets import DEFAULT, PRESETS, Preset
from dpsco_app.parts.touch.picture import picture_data, sample_words
from dpsco_app.shell.names import VIEWS, WHY
from dpsco_app.static_page.page import LivePage
from dpsco_app.static_page.story import story_parts, views
from dpsco_app.static_page.visit import Visit, handle_messages, screen_json, theme_of
from dpsco_app.static_page.words import CURVES, PICTURE
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.runs.study import study
from tests.golden_sentences import GOLDEN

ROOT = Path(__file__).resolve().parents[3]
SMALL = "problem=mean&methods=mean.sample,mean.clipped&axis=n&grid=500,1000&n=1000&d=5&trials=2"
WIDE = theme_of(1200, dark=False)
VIEW_NAMES = {slug: name for row in VIEWS for slug, name in row.items()}


@pytest.fixture
def visit() -> Visit:
    """Return a visit that has opened the small scenario."""
    new_visit = Visit()
    new_visit.open(SMALL)
    return new_visit


def finished(visit: Visit) -> tuple[int, int]:
    """Return the number of finished cells and the number of all cells."""
    screen = visit.session.screen(WIDE)
    return screen.finished, screen.cells


def finish(visit: Visit) -> Visit:
    """Work until a visit has nothing left to run; return it."""
    while visit.step(10.0):
        pass
    return visit


def test_the_cells_are_those_of_the_library(visit: Visit) -> None:
    finish(visit)
    errors = {(o.method, o.x, o.trial): o.error for o in study(visit.scenario)}
    outcomes = visit.session.screen(WIDE).studies[0].outcomes
    library_errors = {(o.method, o.x, o.trial): o.error for o in outcomes}
    assert library_errors == errors and len(errors) == 8


def test_a_step_of_work_ends_in_time_and_a_change_cancels_the_remaining_cells(visit: Visit) -> None:
    visit.open(SMALL.replace("trials=2", "trials=50"))
    assert visit.step(0.0) and finished(visit) == (1, 200)
    visit.change("trials", 1)
    assert finished(visit) == (1, 4)  # The cell that has run is known.


def test_the_old_lines_are_faded_and_marked_at_the_start_of_a_new_run(visit: Visit) -> None:
    old_head = finish(visit).screen(WIDE)["head"]
    visit.change("epsilon", 5)
    young = visit.screen(WIDE)
    assert " before'" in young["head"] and " before'" not in old_head and not young["done"]
    # The headline shows no number of the old runs.
    assert "Measuring 8 runs at ε = 5" in young["head"]
    finished_screen = finish(visit).screen(WIDE)
    assert (
        " before'" not in finished_screen["head"]
        and finished_screen["done"]
        and finished_screen["head"] != old_head
    )


def test_an_old_run_never_stands_under_a_new_title(visit: Visit) -> None:
    """Panels, table, words and notes belong to one run until the first new results arrive."""
    parts = ("alt", "notes", "table")
    old = finish(visit).screen(WIDE)
    titles = [a["text"] for a in old["figure"]["layout"]["annotations"]]
    for field, value in (("problem", "logistic"), ("geometry", "l1")):
        visit.change(field, value)
        young = visit.screen(WIDE)
        assert [a["text"] for a in young["figure"]["layout"]["annotations"]] == titles
        assert [young[part].replace(" before'", "'") for part in parts] == [old[p] for p in parts]
        assert "Measuring" in young["head"] and "before'" in young["table"]
    new = finish(visit).screen(WIDE)
    assert all(new[part] != old[part] for part in parts[::2]) and " before'" not in new["head"]


def test_an_address_opens_as_the_same_state(visit: Visit) -> None:
    visit.change("epsilon", 0.5)
    visit.change("measure", "price")
    query = dict(parse_qsl(visit.address))
    assert links.read(query) == (visit.scenario, [])
    assert ADDRESS.from_query(query) == (visit.session.view, [])


def test_an_invalid_setting_is_reported_and_nothing_runs(visit: Visit) -> None:
    handle_messages(visit, json.dumps([["change", "methods", []]]))
    assert visit.wrong == [GOLDEN["no estimator is chosen"]] and not visit.is_running
    handle_messages(visit, json.dumps([["change", "panel", "third"]]))
    assert len(visit.wrong) == 2 and "panel must be" in visit.wrong[1]
    assert json.loads(screen_json(visit, WIDE))["wrong"] == visit.wrong


def test_points_that_become_too_large_disappear_and_return() -> None:
    visit = Visit()
    full = visit.scenario.grid
    visit.change("d", 100)
    assert visit.scenario.grid == tuple(n for n in full if n * 100 <= 2_000_000) != full
    assert visit.wrong == []
    visit.change("d", 20)
    assert visit.scenario.grid == full


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.slug)
def test_every_preset_starts_with_the_settings_of_the_dashboard(preset: Preset) -> None:
    visit = Visit()
    visit.start(preset.slug)
    assert visit.scenario == preset.scenario and visit.wrong == [] and visit.is_running


@pytest.mark.parametrize("width", [360, 900, 1200])
def test_a_screen_is_json_without_nan_or_infinity(visit: Visit, width: int) -> None:
    text = screen_json(finish(visit), theme_of(width, dark=True))
    screen = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    rows = [t["y"] for t in screen["figure"]["data"] if t.get("y")]
    assert rows and all(y is None or math.isfinite(y) for row in rows for y in row)
    # The table stands below the figure in every window.
    assert "<table class='ladder'>" in screen["table"]
    assert screen["cards"].count("<button") >= 3 and "Best of" in screen["whose"]


def picture_screen(visit: Visit) -> dict[str, Any]:
    """Return the screen of a visit that has opened a picture."""
    screen: dict[str, Any] = json.loads(screen_json(visit, WIDE, PICTURE))
    return screen


def test_the_picture_is_that_of_the_dashboard_at_the_same_settings(visit: Visit) -> None:
    visit.change("epsilon", 2.0)
    screen = picture_screen(visit)
    assert screen["picture"] == json.loads(json.dumps(picture_data(visit.scenario, dark=False)))
    assert screen["picture"]["samples"][0]["epsilon"] == 2.0
    assert screen["sample"] == escape(sample_words(visit.scenario)) and "<p>" not in screen["head"]
    assert (screen["address"], screen["done"], screen["wrong"]) == (visit.address, True, [])
    dark = visit.picture(theme_of(1200, dark=True))["picture"]
    assert dark["colours"] != screen["picture"]["colours"] and dark["id"] == screen["picture"]["id"]


def test_the_picture_says_which_settings_it_ignores(visit: Visit) -> None:
    visit.start("a-whole-user-hidden")
    screen = picture_screen(visit)
    assert "m = 1 (yours: 10,000). The picture is about a mean" in screen["head"]
    assert screen["picture"]["samples"][0]["n"] == visit.scenario.n and screen["wrong"] == []


def test_a_refused_scenario_of_the_curves_still_has_a_picture(visit: Visit) -> None:
    visit.change("methods", [])
    assert (
        visit.wrong and picture_screen(visit)["wrong"] == [] and "picture" in picture_screen(visit)
    )
    visit.open("problem=mean&d=-3")
    assert "d must be" in picture_screen(visit)["wrong"][0] and "picture" in picture_screen(visit)


def test_the_views_have_the_names_that_they_have_in_the_dashboard() -> None:
    link = r"href='([^']*)' data-view='([^']*)'( aria-current='page')?>([^<]*)<"
    view_links = re.findall(link, views(WHY))
    assert view_links == [
        ("index.html#curves", "explore", "", VIEW_NAMES["explore"]),
        ("index.html#picture", "private-mean", "", VIEW_NAMES["private-mean"]),
        ("index.html#lessons", "learn", "", VIEW_NAMES["learn"]),
        ("story.html", "why", " aria-current='page'", VIEW_NAMES["why"]),
    ]


def test_the_links_of_the_story_open_what_the_dashboard_opens() -> None:
    addresses = re.findall("href='([^']*)'", story_parts()["next"])
    for address, (_, scenario, view) in zip(addresses, TO_CURVES, strict=False):
        query = dict(parse_qsl(unescape(address).partition("?")[2]))
        assert links.read(query) == (scenario.validate(DASHBOARD), [])
        assert ADDRESS.from_query(query) == (view, [])
    assert addresses[len(TO_CURVES) :] == ["index.html#picture"]


def test_the_browser_requests_only_elements_that_the_page_has() -> None:
    script = (ROOT / "deploy" / "live" / "web" / "worker.js").read_text(encoding="utf-8")
    methods_asked = set(re.findall(r"\bpage\.(\w+)", script))
    assert methods_asked >= {"is_working", "step", "due", "status", "handle", "shown"}
    page = LivePage()
    assert not [name for name in methods_asked if not hasattr(page, name)]
    for name in ("is_working", "step", "due", "status"):
        assert re.search(rf"\bpage\.{name}\(look\.view\b", script)
    assert page.is_working(CURVES) == page.visit.is_running
    assert page.status(CURVES) == page.visit.status()


def test_the_status_counts_the_runs_and_then_says_where_they_were_computed(visit: Visit) -> None:
    visit.change("trials", 3)
    visit.step(0.0)
    count_done, _, total, word = visit.status().split()
    assert (int(count_done) >= 1, total, word) == (True, "12", "runs")
    assert finish(visit).status().startswith("Live: measured in 12 runs")
    visit.change("methods", [])
    assert visit.status() == ""


def test_the_visit_needs_neither_streamlit_nor_plotly_nor_pandas() -> None:
    script = (
        "import sys; from dpsco_app.static_page.visit import *; v = Visit(); v.open(sys.argv[1])\n"
        "while v.step(9): pass\n"
        "screen_json(v, theme_of(1200, dark=False)), v.python()\n"
        "screen_json(v, theme_of(1200, dark=False), PICTURE)\n"
        "print(*sorted({'streamlit', 'plotly', 'pandas'} & set(sys.modules)))"
    )
    process = subprocess.run(
        [sys.executable, "-c", script, SMALL], capture_output=True, text=True, check=False
    )
    assert (process.returncode, process.stdout.strip()) == (0, ""), process.stderr
    assert DEFAULT.slug == "what-privacy-costs"

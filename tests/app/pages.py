"""The dashboard in Streamlit's AppTest: functions that open a page and read what it shows."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpsco_app.figure.colours import FADED
from dpsco_app.front.links import BASE
from dpsco_app.session.result import Result
from dpsco_app.session.session import Session
from dpsco_app.shell import visit
from dpsco_core.catalogue import default_methods
from dpsco_core.fields import NAMES as FIELDS
from dpsco_core.scenario import Scenario
from tests.app import quick as quick

ENTRY = str(Path(__file__).resolve().parents[2] / "app.py")
# The scenario from which the tests of each page start, by the page's folder.
BASES = {
    "one_run": Scenario(problem="huber", methods=("sco.clipped",), n=2000, p=2.0, trials=3),
    "who_wins": Scenario(
        problem="quadratic",
        methods=("sco.cwme", "sco.smoothed", "sco.cwme-strong", "sco.clipped", "sco.iterative"),
        p=2.0,
    ),
    "bounds": Scenario(problem="quadratic", methods=default_methods("quadratic"), p=3.0),
}
# The beginnings of the sentences that replace a headline while its runs are missing.
WAITING = "Measuring|Not measured yet|These settings cannot"
SMALL = {"trials": "5", "grid": "1000,5000", "against": "none"}


def open_page(**query: str | None) -> AppTest:
    """Run the page at an address, with a small study by default; a parameter set to None is left
    out.
    """
    page = AppTest.from_file(ENTRY, default_timeout=60)
    for name, value in (SMALL | query).items():
        if value is not None:
            page.query_params[name] = value
    return check_page(page.run())


def check_page(page: AppTest) -> AppTest:
    """Return the page after checking that it shows no exception."""
    assert not page.exception, page.exception[0].message
    return page


def press_button(page: AppTest, label: str) -> AppTest:
    """Click the button with this label, and run."""
    (button,) = [b for b in page.button if b.label == label]
    return check_page(button.click().run())


def start_preset(page: AppTest, name: str) -> AppTest:
    """Choose a preset in the gallery."""
    return press_button(press_button(page, "Presets"), name)


def shown_result(page: AppTest) -> Result:
    """Return the result that is shown."""
    drawn_result = visitor_session(page).curves.result
    assert drawn_result is not None
    return drawn_result


def visitor_session(page: AppTest) -> Session:
    """Return the session of the page's visitor."""
    visitor_session: Session = page.session_state[visit.SESSION]
    return visitor_session


def address_scenario(page: AppTest) -> Scenario:
    """Return the scenario of the page's address."""
    query = {k: v for k, v in page.query_params.items() if k in FIELDS}
    return Scenario.from_query(query, BASE)


def first_figure(page: AppTest) -> dict[str, Any]:
    """Return the first figure of a page; folded parts below it may have others."""
    chart, *_ = page.get("plotly_chart")
    return dict(json.loads(chart.proto.spec))


def trace_names(figure: dict[str, Any]) -> list[str]:
    """Return the names of the figure's traces without line breaks."""
    return [trace.get("name", "").replace("<br>", "") for trace in figure["data"]]


def annotation_texts(figure: dict[str, Any]) -> list[str]:
    """Return the texts that are written into a figure."""
    return [a["text"] for a in figure["layout"].get("annotations", [])]


def drawn_html(page: AppTest) -> str:
    """Return the HTML that is drawn: the head of the page, its status and its ladder of numbers."""
    return "\n".join(element.proto.body for element in page.get("html"))


def headline_text(page: AppTest) -> str:
    """Return the answer above the figure."""
    return _plain(_part(page, r"<h2>(.*?)</h2>"))


def line_below(page: AppTest) -> str:
    """Return the line below the headline; on Explore, the line above the numbers."""
    pattern = r"<p class='whose'>(.*?)</p>"
    is_explore = re.search(pattern, drawn_html(page))
    return _plain(_part(page, pattern if is_explore else r"</h2><p[^>]*>(.*?)</p>"))


def ladder_numbers(page: AppTest) -> dict[str, list[str]]:
    """Return the numbers in the table beside the figure, by name."""
    body = re.sub(r"<small>.*?</small>", "", _part(page, r"<tbody>(.*?)</tbody>"))
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", body)
    cells = [[_plain(c) for c in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]
    return {name: values for name, *values in cells}


def is_stale(page: AppTest) -> bool:
    """Whether the head, the figure and the status say that the settings have changed."""
    faded = {t.get("opacity") for t in first_figure(page)["data"] if t.get("error_y")} == {FADED}
    marks = first_figure(page)["data"] + first_figure(page)["layout"]["annotations"]
    assert all(part.get("opacity", 1.0) <= FADED for part in marks if faded)
    assert faded == ("before'" in _part(page, r"<table class=('ladder.*?')>"))
    assert faded == bool(re.search(r"<div class='head(?: single)? before'>", drawn_html(page)))
    waiting = re.match("Settings changed|These settings cannot", status_line(page))
    assert faded == bool(waiting) == bool(re.match(WAITING, headline_text(page)))
    return faded


def status_line(page: AppTest) -> str:
    """Return the status line beside the Run button."""
    return _plain(_part(page, r"<div class='status'[^>]*>(.*?)</div>"))


def _part(page: AppTest, pattern: str) -> str:
    """Return the only match of a pattern in the HTML that a page draws."""
    (text,) = re.findall(pattern, drawn_html(page), re.DOTALL)
    return str(text)


def _plain(text: str) -> str:
    """Return the text of a piece of HTML without tags and entities."""
    return unescape(" ".join(re.sub("<[^>]*>", "", text.replace("<br>", " ")).split()))


def written_text(page: AppTest) -> str:
    """Return everything that is written in the main part."""
    written = (*page.markdown, *page.caption, *page.info, *page.warning, *page.error)
    return "\n".join(element.value for element in written)

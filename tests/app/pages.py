"""The dashboard in AppTest: open it at an address, and read what it shows."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from streamlit.testing.v1 import AppTest

from dpsco_app.parts.running import Result
from dpsco_app.shell import visit
from dpsco_core.scenario import Scenario

ENTRY = str(Path(__file__).resolve().parents[2] / "app.py")
SMALL = {"trials": "5", "grid": "1000,5000", "against": "none"}
PREVIOUS = "previous settings"


def open_page(**query: str | None) -> AppTest:
    """Run the page at an address; small unless the address says otherwise (None: left out)."""
    page = AppTest.from_file(ENTRY, default_timeout=60)
    for name, value in (SMALL | query).items():
        if value is not None:
            page.query_params[name] = value
    return checked(page.run())


def checked(page: AppTest) -> AppTest:
    """Return the page; it must not show an exception."""
    assert not page.exception, page.exception[0].message
    return page


def press(page: AppTest, label: str) -> AppTest:
    """Click the button with this label, and run."""
    (button,) = [b for b in page.button if b.label == label]
    return checked(button.click().run())


def result(page: AppTest) -> Result:
    """Return the result that is shown."""
    shown: Result = page.session_state["result"]
    return shown


def chosen(page: AppTest) -> Scenario:
    """Return the scenario of the page's address."""
    query = {k: v for k, v in page.query_params.items() if k in visit.FIELDS}
    return Scenario.from_query(query, visit.BASE)


def figure(page: AppTest) -> dict[str, Any]:
    """Return the figure."""
    (drawn,) = page.get("plotly_chart")
    return dict(json.loads(drawn.proto.spec))


def trace_names(figure: dict[str, Any]) -> list[str]:
    """Return the names of the figure's traces without breaks of lines."""
    return [trace.get("name", "").replace("<br>", "") for trace in figure["data"]]


def annotations(figure: dict[str, Any]) -> list[str]:
    """Return the texts that are written into a figure."""
    return [a["text"] for a in figure["layout"].get("annotations", [])]


def is_stale(page: AppTest) -> bool:
    """Whether the figure and the status say that the settings have changed; they must agree."""
    marks = {PREVIOUS in annotations(figure(page))}
    assert marks == {"Settings changed" in status(page)}
    return marks == {True}


def status(page: AppTest) -> str:
    """Return the line beside the buttons."""
    return page.container(key="run_row").markdown[0].value


def sentence(page: AppTest) -> str:
    """Return the sentence that says the result."""
    return page.container(key="sentence").markdown[0].value


def numbers_in(text: str) -> list[float]:
    """Return the bold numbers of a sentence."""
    bold = re.findall(r"\*\*([^*]+)\*\*", text)
    return [float(b.split()[0].replace(",", "")) for b in bold if b[0].isdigit()]


def texts(page: AppTest) -> str:
    """Return everything that is written in the main part."""
    written = (*page.markdown, *page.caption, *page.info, *page.warning, *page.error)
    return "\n".join(element.value for element in written)

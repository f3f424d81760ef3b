"""`dpsco page`: a study with sliders as one HTML file that needs no engine and no network.

The file contains the measurements and every bound for each position of its sliders, and Plotly; a
move draws another figure.
"""

import base64
import gzip
import itertools
import json
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from dpsco_app.figure.plotly_script import plotly_script
from dpsco_app.figure.style import named_colours, words_style
from dpsco_app.figure.theme import COMPACT, FONT, NARROW, Theme
from dpsco_app.front.second import companions_of
from dpsco_app.front.view import ADDRESS, View
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.fields import ALL_CONTROLS, text
from dpsco_app.parts.options import in_print, rounded
from dpsco_app.static_page.controls import slider_html
from dpsco_app.static_page.visit import Visit
from dpsco_app.static_page.words import ALL_BOUNDS, TITLE
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import LIBRARY
from dpsco_core.catalogue import bounds_for
from dpsco_core.cli.streams import child_status, require_writable, whole_file
from dpsco_core.cli.study import read_scenario
from dpsco_core.fields import TABLE
from dpsco_core.runs.cost import cost, machine_speed
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario, default_grid

MOST_BYTES = 2_500_000
PLACE_SECONDS = 0.15  # The seconds to draw one position of the sliders, on the reference machine.
SCHEMES = ("light", "dark")
ALL_METHODS = replace(ADDRESS.default, card="others")  # The view of a study's page.
NARROW_PANELS = ("first", "second")  # The panels, which a phone stacks.
SCRIPT = (Path(__file__).parent / "sliders.js").read_text(encoding="utf-8")
STYLE = (Path(__file__).parent / "sliders.css").read_text(encoding="utf-8")


def slider_places(scenario: Scenario, fields: Sequence[str]) -> dict[str, list[float]]:
    """Return the values of each slider by field: the study's axis, and one or two more `fields`.

    Raises `InvalidInput` for more than two fields, or for one that cannot vary beside the axis.
    """
    variable = [name for name, field in TABLE.items() if field.grid and name != scenario.axis]
    require(len(set(fields)) == len(fields) <= 2, "over", "one field, or two", ", ".join(fields))
    for name in fields:
        require(name in variable, "over", f"one of {', '.join(variable)}, and not the axis", name)
    swept = {} if scenario.axis is None else {scenario.axis: list(scenario.grid)}
    return swept | {
        name: sorted({*default_grid(name, scenario.geometry), _value_of(scenario, name)})
        for name in fields
    }


def _value_of(scenario: Scenario, name: str) -> float:
    """Return the scenario's value of a field; raise `InvalidInput` if it has none."""
    value: float = getattr(scenario, name)
    require(value is not None, "over", "a field that the study has", name)
    return value


def _default_fields(scenario: Scenario) -> tuple[str, ...]:
    """Return the field of the second slider: the budget, or else the dimension or the records."""
    if scenario.epsilon and scenario.axis != "epsilon":
        return ("epsilon",)
    return ("d",) if scenario.axis != "d" else ("n",)


def sliders_seconds(scenario: Scenario, view: View = ADDRESS.default) -> float:
    """Return the predicted seconds of `sliders_page`: its runs and its drawings."""
    (field,), sliders = (
        _default_fields(scenario),
        slider_places(scenario, _default_fields(scenario)),
    )
    seconds = PLACE_SECONDS * machine_speed() * math.prod(map(len, sliders.values()))
    # Each value needs a study of its own; the slider of the study's axis needs no further runs.
    for value in sliders[field]:
        change: dict[str, Any] = {field: value}
        varied = replace(scenario, **change)
        seconds += sum(
            cost(s, exact=False).seconds for s in companions_of(varied, view.against, "").scenarios
        )
        seconds += cost(varied, exact=False).seconds
    return seconds


def sliders_page(scenario: Scenario, fields: Sequence[str] = (), view: View = ALL_METHODS) -> str:
    """Return a study with sliders over its axis and over one or two fields, as one HTML file.

    Without `fields`, the second slider is over the budget, or over the dimension if the budget is
    the axis or unset, or over the number of records if the dimension is the axis.
    """
    sliders = slider_places(scenario, fields or _default_fields(scenario))
    # Each text is stored once, since many drawings share it.
    visit, texts = Visit(LIBRARY), dict[str, int]()
    screens = []
    for values in itertools.product(*sliders.values()):
        changes: dict[str, Any] = dict(zip(sliders, values, strict=True))
        visit.show(replace(scenario, **changes), view)
        if visit.wrong:
            raise InvalidInput(visit.wrong[0])
        visit.step(float("inf"))
        screens.append(
            {
                name: [texts.setdefault(part, len(texts)) for part in parts]
                for name, parts in _parts_html(visit, view).items()
            }
        )
    data = {
        "texts": list(texts),
        "screens": screens,
        "lengths": [len(values) for values in sliders.values()],
    }
    page = _page_html(scenario, sliders, json.dumps(data, ensure_ascii=False))
    size = len(page.encode())
    require(size <= MOST_BYTES, "over", "so few values that the page has at most 2.5 MB", size)
    return page


def _parts_html(visit: Visit, view: View) -> dict[str, list[str]]:
    """Return the HTML at one position of the sliders, by its place on the page and its theme."""
    parts = {"bounds": _bound_rows(visit.scenario)}
    panels = NARROW_PANELS[: len(visit.session.screen(Theme()).studies)]
    for dark, scheme in enumerate(SCHEMES):
        wide = visit.screen(Theme(dark=bool(dark)))
        parts[f"head {scheme}"] = [wide["head"]]
        parts[f"wide {scheme}"] = _figure_texts(wide)
        for panel in panels:
            visit.show(visit.scenario, replace(view, panel=panel))
            narrow = visit.screen(Theme(dark=bool(dark), size=COMPACT))
            parts[f"{panel} {scheme}"] = _figure_texts(narrow)
            parts[f"table {scheme}"] = [narrow["table"]]
        visit.show(visit.scenario, view)
    return parts


def _figure_texts(screen: dict[str, Any]) -> list[str]:
    """Return a drawn figure as texts: its layout, then each of its lines."""
    layout, lines = screen["figure"]["layout"], screen["figure"]["data"]
    return [json.dumps(part, ensure_ascii=False) for part in (layout, *lines)]


def _bound_rows(scenario: Scenario) -> list[str]:
    """Return every bound at the scenario's own values, as rows of an HTML table."""
    point = canonical(replace(scenario, axis=None, grid=()))
    slugs = tuple(b.card.slug for b in bounds_for(point.problem, point.level))
    return [
        f"<tr><th scope='row'>{escape(e.bound.card.name)}</th><td>{e.bound.card.kind}</td>"
        f"<td>{rounded(e.value) or '–'}</td><td>{e.bound.card.constant}</td>"
        f"<td>{escape(e.bound.card.paper.key)}, {escape(e.bound.card.statement)}</td>"
        f"<td>{escape(in_print(' '.join(e.failures)))}</td></tr>"
        for e in evaluations(point, slugs)
    ]


def _packed_data(text: str) -> str:
    """Return a text compressed by gzip, in base64; it is the same on every machine."""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _page_html(scenario: Scenario, sliders: dict[str, list[float]], data: str) -> str:
    """Return the page with the sliders and the data, as HTML."""
    inputs = "".join(
        slider_html(
            text(ALL_CONTROLS[name].label, scenario),
            name,
            values,
            min(range(len(values)), key=lambda i: abs(values[i] - _value_of(scenario, name))),
            text(ALL_CONTROLS[name].plain, scenario),
        )
        for name, values in sliders.items()
    )
    light, dark = (
        f":root {{ {named_colours(dark=is_dark)}}}{words_style(dark=is_dark)}"
        for is_dark in (False, True)
    )
    style = f"{light}@media (prefers-color-scheme: dark) {{ {dark} }}{STYLE}"
    style = style.replace("FONT", FONT).replace("NARROW", f"{NARROW}px")
    script = SCRIPT.replace("NARROW", f"{NARROW}px")
    figures = "".join(
        f"<div class='figure' id='{name}' role='img' aria-label='{ALL_BOUNDS}'></div>"
        for name in ("wide", *NARROW_PANELS)
    )
    heads = "".join(f"<th scope='col'>{name}</th>" for name in HEADS)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{TITLE}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"<div id='head'></div>\n<form>{inputs}</form>\n{figures}\n"
        f"<div id='table'></div>\n<details><summary>{ALL_BOUNDS}</summary><div class='scrolled' "
        f"tabindex='0'><table><thead><tr>{heads}</tr></thead><tbody id='bounds'></tbody></table>"
        f"</div></details>\n<p>Made by {TITLE}.</p>\n</main>\n"
        f"<script type='text/plain' id='packed'>{_packed_data(data)}</script>\n"
        f"<script type='text/plain' id='plotly'>{_packed_data(plotly_script())}</script>\n"
        f"<script>{script}</script>\n"
        "</body>\n</html>\n"
    )


HEADS = ("Bound", "Kind", "Value", "Constant", "Statement", "Fails here because")


def main(arguments: str) -> int:
    """Run `dpsco page` with `arguments` as JSON; return its exit status."""
    return child_status(_write_page, arguments)


def _write_page(chosen: Mapping[str, Any]) -> None:
    """Read a study and write its page with sliders; `chosen` has the command's arguments."""
    require_writable(chosen["out"])
    scenario = read_scenario(Path(chosen["file"]), {}).validate()
    page = sliders_page(scenario, chosen["over"])
    with whole_file(chosen["out"]) as part:
        part.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

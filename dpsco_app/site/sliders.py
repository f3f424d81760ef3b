"""`dpsco page`: a study with sliders as one HTML file, which needs no engine and no network.

What was measured and every bound are in the file for each place of its sliders, drawn as SVG; a
move puts another drawing in place.
"""

import argparse
import base64
import gzip
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

from dpsco_app.figure.colours import ACCENT, INK, PAGE, QUIET
from dpsco_app.figure.style import words_style
from dpsco_app.figure.svg import SvgDrawing, in_both_themes, variables
from dpsco_app.figure.theme import COMPACT, FONT, NARROW, WIDE, Size, Theme
from dpsco_app.front.view import ADDRESS, View
from dpsco_app.parts.evaluations import evaluations
from dpsco_app.parts.fields import ALL_CONTROLS, text
from dpsco_app.parts.options import in_print, rounded
from dpsco_app.site.controls import slider
from dpsco_app.site.visit import Visit
from dpsco_app.site.words import ALL_BOUNDS, MADE_BY, TITLE
from dpsco_core import extend
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.limits import LIBRARY
from dpsco_core.catalogue import bounds_for
from dpsco_core.cli.study import read_scenario, whole_file
from dpsco_core.fields import TABLE
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario, default_grid

MOST_BYTES = 4_000_000
SIZES = {"wide": WIDE, "compact": COMPACT}
SCRIPT = (Path(__file__).parent / "sliders.js").read_text(encoding="utf-8")
STYLE = (Path(__file__).parent / "sliders.css").read_text(encoding="utf-8")


class Pool:
    """Texts that many drawings share, each once."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def of(self, parts: Sequence[str]) -> list[int]:
        """Return the numbers of texts."""
        return [self.texts.setdefault(part, len(self.texts)) for part in parts]


def places(scenario: Scenario, over: Sequence[str]) -> dict[str, list[float]]:
    """Return the values of each slider: of the study's axis, and of one or two fields more.

    Raises `InvalidInput`.
    """
    known = [name for name, field in TABLE.items() if field.grid]
    require(len(set(over)) == len(over) <= 2, "over", "one field, or two", ", ".join(over))
    for name in over:
        good = name in known and name != scenario.axis
        require(good, "over", f"one of {', '.join(known)}, and not the axis", name)
    values = {
        name: sorted({*default_grid(name, scenario.geometry), _own(scenario, name)})
        for name in over
    }
    if scenario.axis is not None:
        values = {scenario.axis: list(scenario.grid)} | values
    return values


def _own(scenario: Scenario, name: str) -> float:
    value: float | None = getattr(scenario, name)
    require(value is not None, "over", "a field that the study has", name)
    return value or 0.0


def sliders_page(
    scenario: Scenario,
    over: Sequence[str] = (),
    view: View = ADDRESS.default,
    tell: Callable[[int, int], None] = lambda done, all_of_them: None,
) -> str:
    """Return a study with sliders over its axis and over one or two fields, as one HTML file.

    Without `over`: over the budget, or where that is the axis or not set, over the dimension.
    """
    if not over:
        over = ("epsilon",) if scenario.epsilon and scenario.axis != "epsilon" else ("d",)
    sliders = places(scenario, over)
    visit, pool, names = Visit(LIBRARY), Pool(), dict[str, str]()
    screens = []
    every = list(itertools.product(*sliders.values()))
    for i, values in enumerate(every):
        tell(i, len(every))
        changes: dict[str, Any] = dict(zip(sliders, values, strict=True))
        visit.show(replace(scenario, **changes), view)
        if visit.wrong:
            raise InvalidInput(visit.wrong[0])
        visit.step(float("inf"))
        screens.append({name: pool.of(parts) for name, parts in _parts(visit, names).items()})
    data = {
        "texts": list(pool.texts),
        "screens": screens,
        "lengths": [len(values) for values in sliders.values()],
    }
    packed = gzip.compress(json.dumps(data, ensure_ascii=False).encode(), 9, mtime=0)
    page = _page(scenario, sliders, base64.b64encode(packed).decode(), names)
    size = len(page.encode())
    require(size <= MOST_BYTES, "over", "so few values that the page has at most 4 MB", size)
    return page


def _parts(visit: Visit, names: dict[str, str]) -> dict[str, list[str]]:
    """Return what is drawn at one place of the sliders, by where it stands."""
    parts: dict[str, list[str]] = {}
    screens = {name: visit.screen(Theme(size=size)) for name, size in SIZES.items()}
    for name, size in SIZES.items():
        for panel in [name] if name == "wide" else _panels(visit):
            shown = screens[name] if panel != "second" else _second(visit, size)
            drawing = SvgDrawing(shown["figure"], size.width)
            names |= drawing.names
            parts[panel] = drawing.elements
    parts["head"] = [in_both_themes(screens["wide"]["head"], names)]
    parts["table"] = [in_both_themes(screens["compact"]["table"], names)]
    parts["bounds"] = _bounds(visit.scenario)
    return parts


def _panels(visit: Visit) -> list[str]:
    return ["first", "second"][: len(visit.parts)]


def _second(visit: Visit, size: Size) -> dict[str, Any]:
    own = visit.view
    visit.view = replace(own, panel="second")
    shown = visit.screen(Theme(size=size))
    visit.view = own
    return shown


def _bounds(scenario: Scenario) -> list[str]:
    """Return every bound at the chosen point as rows of a table."""
    point = canonical(replace(scenario, axis=None, grid=()))
    slugs = tuple(b.card.slug for b in bounds_for(point.problem, point.level))
    return [
        f"<tr><th scope='row'>{escape(e.bound.card.name)}</th><td>{e.bound.card.kind}</td>"
        f"<td>{rounded(e.value) or '–'}</td><td>{e.bound.card.constant}</td>"
        f"<td>{escape(e.bound.card.paper.key)}, {escape(e.bound.card.statement)}</td>"
        f"<td>{escape(in_print(' '.join(e.failures)))}</td></tr>"
        for e in evaluations(point, slugs)
    ]


def _page(
    scenario: Scenario, sliders: dict[str, list[float]], packed: str, names: dict[str, str]
) -> str:
    labels = {control.field: control for control in ALL_CONTROLS}
    inputs = "".join(
        slider(
            text(labels[name].label, scenario),
            name,
            values,
            min(range(len(values)), key=lambda i: abs(values[i] - _own(scenario, name))),
            labels[name].known.ends,
        )
        for name, values in sliders.items()
    )
    own = {"--ink": INK, "--quiet": QUIET, "--page": PAGE, "--accent": ACCENT}
    sheets = []
    for dark in (False, True):
        mine = "".join(f"{name}: {pair[dark]}; " for name, pair in own.items())
        sheets.append(f":root {{ {mine}{variables(names, dark=dark)}}}{words_style(dark=dark)}")
    style = f"{sheets[0]}@media (prefers-color-scheme: dark) {{ {sheets[1]} }}{STYLE}"
    style = style.replace("FONT", FONT).replace("NARROW", f"{NARROW}px")
    script = SCRIPT.replace("NARROW", f"{NARROW}px")
    views = {
        name: f"<svg id='{name}' viewBox='0 0 {size.width} {size.height}' role='img' "
        f"aria-label='{ALL_BOUNDS}'></svg>"
        for name, size in (("wide", WIDE), ("first", COMPACT), ("second", COMPACT))
    }
    heads = "".join(f"<th scope='col'>{name}</th>" for name in HEADS)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{TITLE}</title>\n<style>{style}</style>\n</head>\n<body>\n<main>\n"
        f"<div id='head'></div>\n<form>{inputs}</form>\n{''.join(views.values())}\n"
        f"<div id='table'></div>\n<details><summary>{ALL_BOUNDS}</summary><div class='scrolled' "
        f"tabindex='0'><table><thead><tr>{heads}</tr></thead><tbody id='bounds'></tbody></table>"
        f"</div></details>\n<p>{MADE_BY}</p>\n</main>\n"
        f"<script type='text/plain' id='packed'>{packed}</script>\n<script>{script}</script>\n"
        "</body>\n</html>\n"
    )


HEADS = ("Bound", "Kind", "Value", "Constant", "Statement", "Fails here because")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="dpsco page", description=__doc__)
    parser.add_argument("file", help="TOML file whose keys are the fields of a scenario")
    parser.add_argument("--out", required=True, metavar="FILE", help="the HTML file to write")
    words = "a field that gets a slider beside the axis; may be given twice (default: epsilon)"
    parser.add_argument("--over", action="append", default=[], metavar="FIELD", help=words)
    parser.add_argument("--with", dest="own", metavar="FILE", action="append", default=[])
    chosen = parser.parse_args(arguments)
    try:
        for path in chosen.own:
            extend.load(path)
        scenario = read_scenario(Path(chosen.file), {}).validate()
        page = sliders_page(scenario, tuple(chosen.over), tell=_tell)
        with whole_file(chosen.out) as part:
            part.write_text(page, encoding="utf-8")
    except InvalidInput as problem:
        print(f"dpsco: {problem}", file=sys.stderr)
        return 2
    return 0


def _tell(done: int, every: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done:,} of {every:,} places of the sliders", end="", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

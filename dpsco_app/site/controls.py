"""The controls of the page without a server: native inputs, named and filled from the fields."""

import json
from collections.abc import Sequence
from html import escape

from dpsco_app.figure.methods import SIGNS, colour_of, short_names, symbol_of
from dpsco_app.figure.theme import Theme
from dpsco_app.front.changes import listed, offered
from dpsco_app.front.second import SECONDS, second_name
from dpsco_app.front.view import View
from dpsco_app.parts.differences import READ
from dpsco_app.parts.fields import ALL_CONTROLS, FRONT, Control, text
from dpsco_app.parts.options import AGAINST, MEASURE, MEASURES, SYMBOL, number_text
from dpsco_app.parts.presets import KINDS, PRESETS
from dpsco_core.catalogue import PROBLEM_SLUGS, distributions_for
from dpsco_core.geometry import GEOMETRIES
from dpsco_core.scenario import Scenario

WITHOUT = ("grid", "rho")  # what a link alone can set
SMALL = ("slider", "choice", "integer")


def controls(scenario: Scenario, view: View, theme: Theme) -> str:
    """Return the controls of a scenario as HTML; each says in `data-field` what it sets."""
    front = [_one(c, scenario, theme) for c in FRONT if c.shown(scenario)]
    rest = [c for c in ALL_CONTROLS if not c.known.front and c.kind in SMALL]
    more = [_one(c, scenario, theme) for c in rest if c.shown(scenario) and c.field not in WITHOUT]
    seconds = [(kind, second_name(kind)) for kind in SECONDS]
    measures = [(name, name.capitalize()) for name in MEASURES]
    more += [
        _select("Beside your data, show", AGAINST, seconds, view.against),
        _select("Draw", MEASURE, measures, view.measure),
    ]
    return (
        f"{''.join(front)}<details id='more'><summary>More settings</summary>{''.join(more)}"
        "</details>"
    )


def _one(control: Control, scenario: Scenario, theme: Theme) -> str:
    field, label = control.field, text(control.label, scenario)
    value = getattr(scenario, field)
    match control.kind:
        case "slider":
            values = offered(field, scenario, value)
            return slider(label, field, values, values.index(value), control.known.ends)
        case "problem" | "distribution" | "geometry":
            laws = distributions_for(scenario.problem)
            known = {"problem": PROBLEM_SLUGS, "distribution": laws, "geometry": GEOMETRIES}
            names = [(slug, READ[field](slug)) for slug in known[control.kind]]
            return _select(label, field, names, value)
        case "methods":
            return _methods(label, scenario, theme)
        case "integer":
            return (
                f"<label class='choice'><span>{escape(label)}</span><input type='number' min='0' "
                f"id='field-{field}' data-field='{field}' value='{value}'></label>"
            )
    choices = [(str(c), SYMBOL.get(str(c), str(c))) for c in _choices(control, scenario)]
    return _select(label, field, choices, str(value))


def _choices(control: Control, scenario: Scenario) -> list[str]:
    """Return what a choice offers: only fields that have a slider can be swept."""
    return [
        str(c)
        for c in control.known.choices
        if control.field != "axis" or next(a for a in ALL_CONTROLS if a.field == c).shown(scenario)
    ]


def slider(label: str, field: str, values: Sequence[float], at: int, ends: tuple[str, str]) -> str:
    """Return a slider as HTML, at the place `at` of its values."""
    texts = [number_text(value) for value in values]
    attributes = escape(json.dumps(values), quote=True), escape(json.dumps(texts), quote=True)
    words = f"<small aria-hidden='true'><span>{ends[0]}</span><span>{ends[1]}</span></small>"
    return (
        f"<div class='slider'><label for='field-{field}'>{escape(label)}</label>"
        f"<output for='field-{field}'>{texts[at]}</output>"
        f"<input type='range' id='field-{field}' data-field='{field}' min='0' "
        f"max='{len(values) - 1}' step='1' value='{at}' aria-valuetext='{texts[at]}' "
        f'data-values="{attributes[0]}" data-texts="{attributes[1]}">'
        f"{words if any(ends) else ''}</div>"
    )


def _select(label: str, field: str, choices: Sequence[tuple[str, str]], value: str) -> str:
    """Return a menu as HTML, with the value of each choice and what it is called."""
    chosen = {value: " selected"}
    options = "".join(
        f"<option value='{escape(key)}'{chosen.get(key, '')}>{escape(name)}</option>"
        for key, name in choices
    )
    return (
        f"<label class='choice'><span>{escape(label)}</span>"
        f"<select id='field-{field}' data-field='{field}'>{options}</select></label>"
    )


def _methods(label: str, scenario: Scenario, theme: Theme) -> str:
    """Return the algorithms as boxes to tick, each with the mark and the colour of its line."""
    known = listed(scenario)
    names = short_names(known)

    def chip(slug: str) -> str:
        chosen = " checked" if slug in scenario.methods else ""
        return (
            f"<label class='chip' style='--own:{theme.colour(colour_of(slug))}'>"
            f"<input type='checkbox' data-field='methods' value='{slug}' id='{slug}'{chosen}>"
            f"<i aria-hidden='true'>{SIGNS[symbol_of(slug)]}</i>{escape(names[slug])}</label>"
        )

    chosen = "".join(chip(slug) for slug in known if slug in scenario.methods)
    others = [slug for slug in known if slug not in scenario.methods]
    more = "".join(map(chip, others))
    rest = f"<details id='others'><summary>+ {len(others)} more</summary>{more}</details>"
    return f"<fieldset><legend>{escape(label)}</legend>{chosen}{rest if others else ''}</fieldset>"


def presets() -> str:
    """Return the menu of presets as HTML: each button says in `data-preset` which it is."""
    parts = []
    for kind, name in KINDS.items():
        buttons = "".join(
            f"<button type='button' data-preset='{p.slug}' title='{escape(p.look_for)}'>"
            f"{escape(p.name)}</button>"
            for p in PRESETS
            if p.kind == kind
        )
        parts.append(f"<h3>{escape(name)}</h3>{buttons}")
    return "".join(parts)

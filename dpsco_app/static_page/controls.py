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
from dpsco_app.parts.fields import ALL_CONTROLS, FRONT, choices, text, widget
from dpsco_app.parts.options import AGAINST, MEASURE, MEASURES, number_text
from dpsco_app.parts.presets import KINDS, PRESETS
from dpsco_core.scenario import Scenario

WITHOUT = ("grid", "rho")  # what a link alone can set
SMALL = ("slider", "choice", "whole")


def controls(scenario: Scenario, view: View, theme: Theme) -> str:
    """Return the controls of a scenario as HTML; each says in `data-field` what it sets."""
    shown = [name for name, known in ALL_CONTROLS.items() if known.shown(scenario)]
    front = [_one(name, scenario, theme) for name in FRONT if name in shown]
    rest = [name for name in shown if name not in (*FRONT, *WITHOUT)]
    more = [_one(name, scenario, theme) for name in rest if widget(ALL_CONTROLS[name]) in SMALL]
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


def _one(field: str, scenario: Scenario, theme: Theme) -> str:
    known, value = ALL_CONTROLS[field], getattr(scenario, field)
    label = text(known.label, scenario)
    match widget(known):
        case "slider":
            values = offered(field, scenario, value)
            return slider(label, field, values, values.index(value), known.ends)
        case "slugs":
            return _methods(label, scenario, theme)
        case "whole":
            return (
                f"<label class='choice'><span>{escape(label)}</span><input type='number' min='0' "
                f"id='field-{field}' data-field='{field}' value='{value}'></label>"
            )
    names = [(word, READ.get(field, str)(word)) for word in choices(field, scenario)]
    return _select(label, field, names, str(value))


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


def _select(label: str, field: str, offers: Sequence[tuple[str, str]], value: str) -> str:
    """Return a menu as HTML, with the value of each choice and what it is called."""
    chosen = {value: " selected"}
    options = "".join(
        f"<option value='{escape(key)}'{chosen.get(key, '')}>{escape(name)}</option>"
        for key, name in offers
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

"""The controls of the page without a server: HTML inputs, generated from the table of fields."""

import json
from collections.abc import Sequence
from html import escape

from dpsco_app.figure.methods import SIGNS, colour_of, short_names, symbol_of
from dpsco_app.figure.theme import Theme
from dpsco_app.front.changes import listed_methods, slider_values
from dpsco_app.front.questions.prices import slider_areas
from dpsco_app.front.second import SECONDS, second_name
from dpsco_app.front.view import View
from dpsco_app.parts.control_words import contents_of_fold, law_name, laws_in_order, methods_text
from dpsco_app.parts.differences import READ
from dpsco_app.parts.fields import (
    ALL_CONTROLS,
    FOLDED_AT_FIRST,
    choices,
    ends_html,
    front_fields,
    text,
    widget,
)
from dpsco_app.parts.options import AGAINST, MEASURE, MEASURES, number_text
from dpsco_app.parts.presets import KINDS, PRESETS
from dpsco_core.scenario import Scenario

LINK_FIELDS = ("grid", "rho")  # Fields without a control, which only a link sets.
SMALL = ("slider", "choice", "whole")


def controls(scenario: Scenario, view: View, theme: Theme, lead: str = "") -> str:
    """Return the controls of a scenario and of a view as HTML; `data-field` names each one's field.

    `lead` is the slug of the best algorithm among those that have run.
    """
    visible = [name for name, known in ALL_CONTROLS.items() if known.is_shown(scenario)]
    open_ones = front_fields(scenario, FOLDED_AT_FIRST)
    areas = slider_areas(scenario, theme) if view.card == "sliders" else {}
    front = [
        _control_html(name, scenario, theme, lead, areas.get(name, ""))
        for name in open_ones
        if name in visible
    ]
    folded_names = [name for name in visible if name not in (*open_ones, *LINK_FIELDS)]
    folded = [
        _control_html(name, scenario, theme, area=areas.get(name, ""))
        for name in folded_names
        if widget(ALL_CONTROLS[name]) in SMALL or name in FOLDED_AT_FIRST
    ]
    seconds = [(kind, second_name(kind)) for kind in SECONDS]
    measures = [(name, name.capitalize()) for name in MEASURES]
    folded += [
        _menu_html("Beside your data, show", AGAINST, seconds, view.against),
        _menu_html("Draw", MEASURE, measures, view.measure),
    ]
    contents = ", ".join(contents_of_fold({*folded_names} & {*FOLDED_AT_FIRST}))
    return (
        f"{''.join(front)}<details id='more'><summary>More settings: {contents}</summary>"
        f"{''.join(folded)}</details>"
    )


def _control_html(
    field: str, scenario: Scenario, theme: Theme, lead: str = "", area: str = ""
) -> str:
    """Return the control of a field as HTML: a slider, a menu, a number field or check boxes.

    `lead` is the slug of the best algorithm, and `area` the HTML above a slider.
    """
    control, value = ALL_CONTROLS[field], getattr(scenario, field)
    label = text(control.label, scenario)
    match widget(control):
        case "slider":
            values = slider_values(field, scenario, value)
            words = text(control.plain, scenario)
            return slider_html(label, field, values, values.index(value), words, area)
        case "slugs":
            return _methods_html(label, scenario, theme, lead)
        case "whole":
            return (
                f"<label class='choice'><span>{escape(label)}</span><input type='number' min='0' "
                f"id='field-{field}' data-field='{field}' value='{value}'></label>"
            )
    offers, read = choices(field, scenario), READ.get(field, str)
    if field == "distribution":
        offers, read = laws_in_order(offers, scenario), law_name(scenario)
    names = [(word, read(word)) for word in offers]
    return _menu_html(label, field, names, str(value))


def slider_html(
    label: str,
    field: str,
    values: Sequence[float],
    position: int,
    words: str = "",
    area: str = "",
) -> str:
    """Return a slider as HTML, at `position` in its values.

    `words` explain the slider, and `area` stands above it.
    """
    texts = [number_text(value) for value in values]
    attributes = escape(json.dumps(values), quote=True), escape(json.dumps(texts), quote=True)
    explanation = f"<small>{escape(words)}</small>" if words else ""
    ends = f"<small class='ends'>{html}</small>" if (html := ends_html(field)) else ""
    return (
        f"<div class='slider'><label for='field-{field}'>{escape(label)}</label>"
        f"<output for='field-{field}'>{texts[position]}</output>{explanation}{area}{ends}"
        f"<input type='range' id='field-{field}' data-field='{field}' min='0' "
        f"max='{len(values) - 1}' step='1' value='{position}' aria-valuetext='{texts[position]}' "
        f'data-values="{attributes[0]}" data-texts="{attributes[1]}">'
        "</div>"
    )


def _menu_html(label: str, field: str, offers: Sequence[tuple[str, str]], value: str) -> str:
    """Return a menu as HTML; `offers` are pairs of a value and its name, `value` is the chosen."""
    chosen = {value: " selected"}
    options = "".join(
        f"<option value='{escape(key)}'{chosen.get(key, '')}>{escape(name)}</option>"
        for key, name in offers
    )
    return (
        f"<label class='choice'><span>{escape(label)}</span>"
        f"<select id='field-{field}' data-field='{field}'>{options}</select></label>"
    )


def _methods_html(label: str, scenario: Scenario, theme: Theme, lead: str) -> str:
    """Return the algorithms as checkboxes, each with the mark and the colour of its line."""
    slugs = listed_methods(scenario)
    names = short_names(slugs)

    def chip(slug: str) -> str:
        """Return the check box of a method as HTML, with the mark of the method's line."""
        chosen = " checked" if slug in scenario.methods else ""
        return (
            f"<label class='chip' style='--own:{theme.colour(colour_of(slug))}'>"
            f"<input type='checkbox' data-field='methods' value='{slug}' id='{slug}'{chosen}>"
            f"<i aria-hidden='true'>{SIGNS[symbol_of(slug)]}</i>{escape(names[slug])}</label>"
        )

    chosen = "".join(chip(slug) for slug in slugs if slug in scenario.methods)
    unchosen = [slug for slug in slugs if slug not in scenario.methods]
    hidden_chips = "".join(map(chip, unchosen))
    more = f"<details id='others'><summary>+ {len(unchosen)} more</summary>{hidden_chips}</details>"
    box = f"<fieldset><legend>{escape(label)}</legend>{chosen}{more if unchosen else ''}</fieldset>"
    name, words = methods_text(scenario, lead)
    summary = f"<span>{escape(name)}</span> {escape(words)}"
    return f"<details id='algorithms'><summary>{summary}</summary>{box}</details>"


def presets() -> str:
    """Return the menu of presets as HTML; `data-preset` names the preset of each button."""
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

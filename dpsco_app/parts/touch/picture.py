"""The picture of how a private mean is made, which a hand can move."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from dpsco_app.parts.export import PAGE, download, html_page
from dpsco_app.parts.look import BLUE, CRIMSON, CYAN, GREY, ORANGE, REGION, Look
from dpsco_app.parts.touch.modules import component, script, text
from dpsco_core.explain.picture import picture
from dpsco_core.scenario import Scenario

TITLE = "How a private mean is made"
OWN = ("law", "laws")  # what is written in a form of its own


def draw_picture(scenario: Scenario, key: str = "picture") -> None:
    """Draw the picture for the law, tail, budget and seed of `scenario`, and its download."""
    dark = st.context.theme.type == "dark"
    component("picture", "picture.css")(
        key=key, data=picture_data(scenario, dark=dark), height="content"
    )
    download(
        "Download this picture (HTML)",
        lambda: picture_page(scenario, dark=dark),
        "dpsco-picture.html",
        key=f"{key}_html",
        help="A page of its own that still moves, and needs no network.",
    )


def picture_data(scenario: Scenario, *, dark: bool) -> dict[str, Any]:
    numbers, look = picture(scenario), Look(dark=dark)
    method, lost, other, private = map(look.colour, (BLUE, ORANGE, CRIMSON, CYAN))
    first = numbers.records[:, 0].tolist()
    return {
        # It begins anew only where this differs.
        "id": json.dumps([numbers.law, numbers.delta, numbers.start, first]),
        "colours": {
            "ink": look.ink,
            "record": look.colour(GREY),
            "method": method,
            "lost": lost,
            "other": other,
            "private": private,
            "faint": f"{method}55",
            "faintLine": method,
            "otherFaint": f"{other}55",
            "floor": look.colour(REGION),
        },
        **{name: _plain(value) for name, value in vars(numbers).items() if name not in OWN},
        "laws": [
            {"bias": law.bias.tolist(), "variance": law.variance.tolist(), "whole": law.whole}
            for law in numbers.laws
        ],
    }


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def picture_page(scenario: Scenario, *, dark: bool = False) -> str:
    """Return the picture as a page of its own, which moves without a server or a network."""
    data = picture_data(scenario, dark=dark)
    return page_of(TITLE, ("picture.css",), text("picture.html"), "picture.js", data, dark=dark)


def page_of(
    title: str, styles: Sequence[str], body: str, module: str, data: object, *, dark: bool
) -> str:
    """Return a component's markup, style, script and data as a page that asks no host."""
    look = Look(dark=dark)
    numbers = json.dumps(data).replace("</", "<\\/")
    run = script(module).replace("export default function", "function start")
    background = look.colour(PAGE)
    style = (
        "\nbody { max-width: 1100px; margin: 0 auto;"
        f" padding: 1rem; background: {background}; --st-text-color: {look.ink};"
        f" --st-background-color: {background}; color: {look.ink};"
        " font-family: Arial, Helvetica, sans-serif; }\n"
        f"{''.join(map(text, styles))}"
    )
    starts = (
        f'<script type="module">\n{run}\n'
        f'start({{ data: {numbers}, parentElement: document.querySelector("main") }})\n'
        "</script>\n"
    )
    return html_page(title, style, body, starts)

"""A component as a standalone page that works without a server or a network."""

import json
from collections.abc import Sequence

from dpsco_app.figure.colours import INK, PAGE
from dpsco_app.parts.html import html_page
from dpsco_app.parts.touch.modules import script, text


def page_of(
    title: str, styles: Sequence[str], body: str, module: str, data: object, *, dark: bool
) -> str:
    """Return a component as an HTML page that contacts no host.

    `styles` and `module` name files of this folder, `body` is the component's markup, and `data`
    what its script is given, as JSON.
    """
    numbers = json.dumps(data).replace("</", "<\\/")
    run = script(module).replace("export default function", "function start")
    background, ink = PAGE[dark], INK[dark]
    style = (
        "\nbody { max-width: 1100px; margin: 0 auto;"
        f" padding: 1rem; background: {background}; --st-text-color: {ink};"
        f" --st-background-color: {background}; color: {ink};"
        " font-family: Arial, Helvetica, sans-serif; }\n"
        f"{''.join(map(text, styles))}"
    )
    starts = (
        f'<script type="module">\n{run}\n'
        f'start({{ data: {numbers}, parentElement: document.querySelector("main") }})\n'
        "</script>\n"
    )
    return html_page(title, style, body, starts)

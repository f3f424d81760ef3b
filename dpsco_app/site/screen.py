"""What stands around the figure of the page without a server: its panels, and what to notice."""

import json
import re
from collections.abc import Sequence
from html import escape
from typing import Any

from dpsco_app.front.notice import to_notice
from dpsco_app.front.second import beside
from dpsco_app.front.study import Study
from dpsco_app.front.titles import panel_names
from dpsco_app.front.view import View
from dpsco_app.parts.options import in_print
from dpsco_app.parts.refusals import measured_refusals
from dpsco_core.scenario import Scenario


def panel_switch(scenario: Scenario, studies: Sequence[Study], view: View, *, several: bool) -> str:
    """Return the switch between both panels and one of them as HTML; empty for a single one."""
    if len(studies) == 1 and view.panel in ("auto", "both"):
        return ""
    pair = beside(scenario, view.against, view.pin)
    names = panel_names(scenario, pair.second, pair.role)
    options = ["both", "first", "second"] if several else ["first", "second"]
    now = view.panel if view.panel in options else options[0]
    return "".join(
        f"<button type='button' data-field='panel' data-value='{key}' "
        f"aria-pressed='{'true' if key == now else 'false'}'>{escape(names[key])}</button>"
        for key in options
    )


def notes(scenario: Scenario, view: View, studies: Sequence[Study]) -> str:
    """Return what to notice, and which methods cannot run, as HTML."""
    refused = measured_refusals([o for study in studies for o in study.outcomes])
    parts = [f"<p><b>{escape(r.names)}</b>: {escape(in_print(r.reason))}</p>" for r in refused]
    texts = [bold(text) for text in to_notice(scenario, view)]
    parts += ["<h2>What to notice</h2>", *(f"<p>{text}</p>" for text in texts)] if texts else []
    return "".join(parts)


def bold(text: str) -> str:
    """Return Markdown whose only mark is bold as HTML."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))


def plain(value: Any) -> Any:
    """Return a value as JSON has it: what is no number is null."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)

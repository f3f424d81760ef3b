"""The parts around the figure of the page without a server: its panels and its remarks."""

import json
import re
from html import escape
from typing import Any

from dpsco_app.figure.theme import Theme
from dpsco_app.front.questions.cards import STEPS, Question
from dpsco_app.front.questions.records import records_html
from dpsco_app.parts.options import in_print
from dpsco_app.parts.refusals import measured_refusals
from dpsco_app.session.screen import Screen


def panel_switch(screen: Screen) -> str:
    """Return as HTML the switch between both panels and one of them; empty for a single panel."""
    if len(screen.studies) == 1 and screen.view.panel in ("auto", "both"):
        return ""
    return "".join(
        f"<button type='button' data-field='panel' data-value='{key}' "
        f"aria-pressed='{'true' if key == screen.panel else 'false'}'>{escape(name)}</button>"
        for key, name in screen.panel_names.items()
    )


def cards(screen: Screen) -> str:
    """Return the questions below the figure as HTML: a button for each, and a proof's steps."""
    chosen = screen.view.card
    open_slugs = {chosen, *(card.slug for card in screen.cards if card.choices)}
    buttons = "".join(
        f"<button type='button' class='card{' next' * card.is_suggested}' data-field='card' "
        f"data-value='{card.slug}' "
        f"aria-expanded='{'true' if card.slug in open_slugs else 'false'}'>"
        f"<b>{escape(card.title)} {'−' if card.slug in open_slugs else '+'}</b>"
        f"<span>{escape(card.sentence)}</span></button>{_choices_html(card)}"
        for card in screen.cards
    )
    steps = [text for card in screen.cards for text in card.steps if card.slug == chosen]
    listed = "".join(f"<li>{escape(text)}</li>" for text in steps[:STEPS])
    later_steps = "".join(f"<p>{escape(text)}</p>" for text in steps[STEPS:])
    news = "".join(escape(card.sentence) for card in screen.cards if card.slug in open_slugs)
    live_region = f"<p class='heard' role='status'>{news}</p>" * bool(screen.cards)
    proof = f"<ol>{listed}</ol>{later_steps}" * bool(steps)
    return f"<div class='cards'>{buttons}</div>{live_region}{proof}"


def _choices_html(card: Question) -> str:
    """Return the guesses offered before a card opens as HTML, a button for each."""
    return "".join(
        f"<button type='button' class='card guess' data-field='guess' data-value='{place}'>"
        f"<b>{escape(words)}</b></button>"
        for place, words in enumerate(card.choices)
    )


def records(screen: Screen, theme: Theme) -> str:
    """Return what the records are worth without privacy as HTML; empty until it is measured."""
    if screen.is_old or not screen.cards:
        return ""
    return records_html(screen.studies[0], screen.scenario, theme)


def notes(screen: Screen) -> str:
    """Return the remarks on the figure, and the methods that cannot run, as HTML."""
    refused = measured_refusals([o for study in screen.studies for o in study.outcomes])
    parts = [f"<p><b>{escape(r.names)}</b>: {escape(in_print(r.reason))}</p>" for r in refused]
    texts = [bold_html(text) for text in screen.notes]
    parts += ["<h2>What to notice</h2>", *(f"<p>{text}</p>" for text in texts)] if texts else []
    return "".join(parts)


def bold_html(text: str) -> str:
    """Return a text as HTML; bold type, as in Markdown, is its only markup."""
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escape(text))


def json_value(value: Any) -> Any:
    """Return a copy of a value of lists and dictionaries, with None for NaN and infinity."""
    return json.loads(json.dumps(value), parse_constant=lambda _: None)

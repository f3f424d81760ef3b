"""The style of Explore's first screen."""

from functools import cache

from dpsco_app.figure.colours import ACCENT, INK, QUIET, Pair
from dpsco_app.front.questions.cards import Question
from dpsco_app.front.questions.records import RECORDS_STYLE
from dpsco_app.parts.insides import MENU_BOX

INK_ON_ACCENT: Pair = ("#ffffff", "#0b1b33")


@cache
def style(*, dark: bool) -> str:
    """Return the style sheet of the row above the figure, and of the one below it."""
    accent, on_accent, quiet = ACCENT[dark], INK_ON_ACCENT[dark], QUIET[dark]
    ink = INK[dark]
    run = ".st-key-explore_run button:not(:disabled)"
    return f"""<style>
/* Streamlit keeps what a button has replaced beside it until the page has run. */
.st-key-explore_run ~ .st-key-explore_cancel, .st-key-explore_cancel ~ .st-key-explore_run {{
  display: none; }}
.status {{ font-size: 0.8125rem; color: {quiet}; text-align: right; white-space: nowrap; }}
.st-key-top_row > :nth-child(2) {{ flex: 1 1 0; }}
.st-key-cards {{ gap: 0.65rem; align-items: stretch; }}
.st-key-cards > * {{ flex: 1 1 0; min-width: 9rem; }}
.st-key-cards button {{ height: 100%; min-height: 4.7rem; align-items: flex-start; text-align: left;
  justify-content: flex-start; padding: 0.55rem 0.75rem; border-radius: 0.6rem; }}
.st-key-cards button p {{ font-size: 0.84rem; line-height: 1.15rem; color: {quiet};
}}
.st-key-cards button :is(div, span) {{ width: 100%; justify-content: flex-start; }}
.st-key-cards button strong {{ font-size: 0.94rem; color: {ink}; }}
[class*="st-key-guess_"] button {{ justify-content: center; align-items: center; }}
.st-key-cards [class*="st-key-guess_"] button :is(div, span) {{ justify-content: center; }}
[class*="st-key-guess_"] button p {{ font-size: 1rem; font-weight: 600; color: {ink};
  text-align: center; }}
.st-key-cards {{ position: relative; }}
.st-key-cards > :has(.heard) {{ position: absolute; left: 0; bottom: 0; width: 1px; min-width: 0;
  flex: none; overflow: hidden; }}
.spelled {{ font-size: 0.8125rem; line-height: 1.15rem; color: {quiet}; margin: 0 0 0.2rem; }}
.whose {{ font-size: 0.9rem; color: {quiet}; margin: 0; }}
/* What a change does stands in the row above: the figure keeps its place. */
.head.single {{ position: relative; }}
.head.single h1:not(.heard) {{ color: {ink}; position: absolute; top: -2.05rem; max-width: 60%; }}
{RECORDS_STYLE}
.st-key-top_row {{ gap: 0.75rem; }}
.st-key-top_row button, .st-key-foot button {{ min-height: 1.9rem; padding: 0.1rem 0.7rem; }}
.st-key-top_row button p, .st-key-foot button p {{ font-size: 0.85rem; }}
{run} {{ background: {accent}; border-color: {accent}; color: {on_accent}; }}
{run} * {{ color: {on_accent}; opacity: 1 !important; }}
{run} kbd {{ display: none; }}
.st-key-doors {{ gap: 0.5rem; justify-content: flex-start; align-items: center; color: {quiet};
  font-size: 0.875rem; }}
.st-key-doors > * {{ width: auto !important; flex: none !important; }}
.st-key-doors a {{ padding: 0 0.25rem; min-height: 0; }}
.st-key-doors a p {{ font-size: 0.875rem; text-decoration: underline; text-underline-offset: 3px; }}
.st-key-foot {{ gap: 0.6rem; }}
.st-key-foot > :has(> .st-key-foot_words) {{ flex: 1 1 10rem; }}
.st-key-foot_words p {{ font-size: 0.8125rem; }}
/* A menu fits above or below its button, wherever that stands in the window. */
{MENU_BOX} {{ max-height: 46vh !important; overflow-y: auto; }}
@media (max-width: 760px) {{
  .head.single h1:not(.heard) {{ position: static; max-width: none; }}
  .head.single p {{ display: flex; align-items: center; }}
  .status {{ display: none; }}
  .st-key-cards {{ padding-top: 0.6rem; }}
}}
</style>"""


def cards_style(open_card: Question | None, suggested: Question | None, *, dark: bool) -> str:
    """Return the CSS that marks the open card, and the card that a visitor is invited to open."""
    accent, on_accent, ink = ACCENT[dark], INK_ON_ACCENT[dark], INK[dark]
    rules = ""
    if open_card is not None:
        button = f".st-key-card_{open_card.slug} button"
        rules += f"{button} {{ border: 2px solid {accent}; }} {button} p {{ color: {ink}; }}"
    if suggested is not None:
        button = f".st-key-card_{suggested.slug} button"
        rules += (
            f"{button} {{ position: relative; }} "
            f'{button}::before {{ content: "Try first"; position: absolute; top: -0.6rem; '
            "right: 0.7rem; padding: 0 0.45rem; border-radius: 0.5rem; font-size: 0.75rem; "
            f"line-height: 1.15rem; font-weight: 600; background: {accent}; color: {on_accent}; }}"
        )
    return f"<style>{rules}</style>"

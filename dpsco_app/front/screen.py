"""The first screen of the front page: its head, its figure and the figure's table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpsco_app.figure.colours import IMPOSSIBLE
from dpsco_app.figure.head import answer_head_html, head_html
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.render import plotly
from dpsco_app.figure.table import ladder_table
from dpsco_app.figure.theme import Theme
from dpsco_app.figure.values import Figure
from dpsco_app.front.answer import Answer, answer, question
from dpsco_app.front.figure import front_figure, nests
from dpsco_app.front.headline import LIMIT, marked
from dpsco_app.front.pictures.meaning import meaning
from dpsco_app.front.questions.tails import has_tails, tails_figure, tails_headline
from dpsco_app.front.study import Study, agreed
from dpsco_app.front.view import View


@dataclass(frozen=True, kw_only=True)
class FrontScreen:
    """The part of the first screen that depends on the runs."""

    studies: tuple[Study, ...]  # The panels, which all other fields describe.
    answer: Answer
    head: str  # The head of the screen as HTML.
    figure: Figure
    charts: Mapping[str, Any]  # The figure in Plotly's form.
    table: str  # The table of the figure's lines as HTML.

    @property
    def lead(self) -> str:
        """The slug of the private method that the headline is about; empty without one."""
        return self.studies[0].lead


@lru_cache(maxsize=50)
def front_screen(
    studies: tuple[Study, ...],
    view: View,
    theme: Theme,
    panel_index: int | None = None,
    *,
    is_old: bool = False,
    waiting: str = "",
    because: str = "",
) -> FrontScreen:
    """Return the screen of some panels; see `front_figure` for `panel_index`.

    Title, figure, table and answer are about the same panels. `is_old` says that the settings have
    changed since these ran; the screen is then pale, and `waiting` replaces the headline, so that
    no old number stands under new settings. `because` says in words what has changed.
    """
    studies = agreed(studies)
    scenario = studies[0].scenario
    has_bands = nests(studies, view) and view.card == "light" and has_tails(scenario)
    if has_bands:
        reply = Answer(headline=tails_headline(scenario))
        figure = tails_figure(scenario, reply.plain)
        is_old, waiting = False, ""  # The figure of promises has no measured values to wait for.
    else:
        reply = answer(studies)
        figure = front_figure(studies, view, reply.plain, panel_index, is_old=is_old)
    return FrontScreen(
        studies=studies,
        answer=reply,
        head=_head(studies, view, reply, theme, is_old, waiting, because),
        figure=figure,
        charts=plotly(figure, theme),
        table=ladder_table(figure, theme),
    )


def _head(
    studies: Sequence[Study],
    view: View,
    reply: Answer,
    theme: Theme,
    is_old: bool,
    waiting: str,
    because: str,
) -> str:
    """Return the head of the screen as HTML: the question, the answer, and words or pictures.

    The parameters `is_old`, `waiting` and `because` are those of `front_screen`.
    """
    question_text = question(studies)
    if not nests(studies, view):
        lines_above = (waiting, "") if waiting else reply.headline
        small_words = () if waiting else reply.small
        return head_html(question_text, lines_above, small_words, theme, is_old=is_old)
    colours = {
        subject: IMPOSSIBLE.ink if subject == LIMIT else colour_of(subject)
        for _, subject in reply.marks
    }
    lines = [
        [(text, colours.get(subject)) for text, subject in marked(line, reply.marks)]
        for line in reply.headline
    ]
    # The bands of promises are not measured, so no prices stand beside them.
    has_prices = not (waiting or is_old or (view.card == "light" and not reply.marks))
    small = meaning(studies[0], theme, has_prices=has_prices)
    return answer_head_html(
        question_text, lines, small, theme, because=because, waiting=waiting, is_old=is_old
    )

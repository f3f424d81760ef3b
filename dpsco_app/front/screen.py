"""The first screen of the front page: its head, its figure and the figure's table."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from dpsco_app.figure.head import head
from dpsco_app.figure.render import plotly
from dpsco_app.figure.table import ladder_table
from dpsco_app.figure.theme import Theme
from dpsco_app.figure.values import Figure
from dpsco_app.front.answer import Answer, answer, question
from dpsco_app.front.figure import front_figure
from dpsco_app.front.study import Study, agreed
from dpsco_app.front.view import View

# What is said of the runs before a change that were stopped by it.
UNFINISHED = Answer(headline=("these runs were not finished",))


@dataclass(frozen=True, kw_only=True)
class FrontScreen:
    """What follows a run."""

    studies: tuple[Study, ...]  # the panels: all below is about these
    answer: Answer
    head: str  # HTML
    figure: Figure
    charts: Mapping[str, Any]  # the figure in Plotly's form
    table: str  # HTML

    @property
    def lead(self) -> str:
        """The private method that is spoken of; "" without one."""
        return self.studies[0].lead


@lru_cache(maxsize=50)
def front_screen(
    studies: tuple[Study, ...],
    view: View,
    theme: Theme,
    only: int | None = None,
    *,
    before: bool = False,
) -> FrontScreen:
    """Return what is shown of panels; see `front_figure` for `only`.

    Title, figure, table and answer are of the same panels. `before` says that the settings have
    changed since these ran, and marks them all.
    """
    studies = agreed(studies)
    reply = answer(studies)
    if before and not reply.plain.strip():
        reply = UNFINISHED
    figure = front_figure(studies, view, reply.plain, only, faded=before)
    return FrontScreen(
        studies=studies,
        answer=reply,
        head=head(question(studies), reply.headline, reply.small, theme, before=before),
        figure=figure,
        charts=plotly(figure, theme),
        table=ladder_table(figure, theme),
    )

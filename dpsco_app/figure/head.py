"""The head of a page: a question, its answer, and what the answer's number is."""

from collections.abc import Sequence
from html import escape

from dpsco_app.figure.colours import Pair
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.theme import Theme

# Texts in a row, each with the method that it names, or "".
Words = Sequence[tuple[str, str]]


def head(
    question: str, answer: Sequence[str], small: Words, theme: Theme, *, is_old: bool = False
) -> str:
    """Return the head as HTML: `answer` has a text for each line, `small` is one line below.

    Names of methods stand in the colours of their lines; `is_old` says that the figure is
    of settings that have changed since.
    """
    lines = " <br>".join(escape(line) for line in answer)
    small_html = coloured_words(small, theme)
    return (
        f"<div class='head{' before' * is_old}'><h1>{escape(question)}</h1><h2>{lines}</h2>"
        f"<p aria-live='polite'>{small_html}</p></div>"
    )


def coloured_words(small: Words, theme: Theme) -> str:
    """Return texts in a row as HTML, methods in the colours of their lines."""
    return "".join(
        f"<b style='color:{theme.colour(colour_of(method))}'>{escape(text)}</b>"
        if method
        else escape(text)
        for text, method in small
    )


def answer_head(
    question: str,
    lines: Sequence[Sequence[tuple[str, Pair | None]]],
    small: str,
    theme: Theme,
    *,
    because: str = "",
    waiting: str = "",
    is_old: bool = False,
) -> str:
    """Return the head of a single figure as HTML: its answer, whose numbers have colours.

    `small` is HTML. `because` says what has changed, in the place of the question; while runs are
    missing, `waiting` says so in the place of the answer, so that no old number stands there.
    """
    texts = [
        "".join(
            f"<b style='color:{theme.colour(colour)}'>{escape(text)}</b>"
            if colour
            else escape(text)
            for text, colour in line
        )
        for line in lines
    ]
    headline = f"<span class='waiting'>{escape(waiting)}</span>" if waiting else " <br>".join(texts)
    title = (
        f"<h1>{escape(because)}</h1>" if because else f"<h1 class='heard'>{escape(question)}</h1>"
    )
    return (
        f"<div class='head single{' before' * is_old}'>{title}<h2>{headline}</h2>"
        f"<p aria-live='polite'>{small}</p></div>"
    )

"""The head of a page: a question, its answer, and a line about the number in the answer."""

from collections.abc import Sequence
from html import escape

from dpsco_app.figure.colours import Pair
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.theme import Theme

# A row of texts, each with the slug of the method that it names, or an empty string.
Words = Sequence[tuple[str, str]]


def head_html(
    question: str, answer: Sequence[str], small: Words, theme: Theme, *, before: bool = False
) -> str:
    """Return the head as HTML: `answer` has a text for each line, `small` is one line below it.

    Names of methods have the colours of their lines; `before` says that the figure still shows
    earlier settings.
    """
    lines = " <br>".join(escape(line) for line in answer)
    small_html = coloured_words(small, theme)
    return (
        f"<div class='head{' before' * before}'><h1>{escape(question)}</h1><h2>{lines}</h2>"
        f"<p aria-live='polite'>{small_html}</p></div>"
    )


def coloured_words(small: Words, theme: Theme) -> str:
    """Return a row of texts as HTML; names of methods have the colours of their lines."""
    return "".join(
        f"<b style='color:{theme.colour(colour_of(method))}'>{escape(text)}</b>"
        if method
        else escape(text)
        for text, method in small
    )


def answer_head_html(
    question: str,
    lines: Sequence[Sequence[tuple[str, Pair | None]]],
    small: str,
    theme: Theme,
    *,
    because: str = "",
    waiting: str = "",
    before: bool = False,
) -> str:
    """Return the head of a single figure as HTML, with the numbers of its answer in colour.

    `small` is HTML. `because` replaces the question and says which setting has changed; while runs
    are missing, `waiting` replaces the answer, so that no outdated number is shown.
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
        f"<div class='head single{' before' * before}'>{title}<h2>{headline}</h2>"
        f"<p aria-live='polite'>{small}</p></div>"
    )

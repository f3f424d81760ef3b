"""The head of a page: a question, its answer, and what the answer's number is."""

from collections.abc import Sequence
from html import escape

from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.theme import Theme

# Texts in a row, each with the method that it names, or "".
Words = Sequence[tuple[str, str]]


def head(
    question: str, answer: Sequence[str], small: Words, shown: Theme, *, before: bool = False
) -> str:
    """Return the head as HTML: `answer` has a text for each line, `small` is one line below.

    Names of methods stand in the colours of their lines; `before` says that the answer is about
    settings that have changed since.
    """
    lines = " <br>".join(escape(line) for line in answer)
    past = "<small>Before: </small>" if before else ""
    below = "".join(
        f"<b style='color:{shown.colour(colour_of(method))}'>{escape(text)}</b>"
        if method
        else escape(text)
        for text, method in small
    )
    return (
        f"<div class='head{' before' * before}'><h1>{escape(question)}</h1><h2>{past}{lines}</h2>"
        f"<p aria-live='polite'>{below}</p></div>"
    )

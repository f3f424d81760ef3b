"""What is handed in: predictions, measurements and the visitor's sentence; also as a file."""

from collections.abc import Sequence
from functools import partial
from html import escape

import streamlit as st

from dpsco_app.figure.head import head
from dpsco_app.pages.learn import state
from dpsco_app.pages.learn.lessons import SLUGS, answer_text, step_name
from dpsco_app.pages.learn.state import MOST, STATE, Answered, View
from dpsco_app.pages.learn.words import HANDING_IN
from dpsco_app.parts.drawing import theme
from dpsco_app.parts.export import download
from dpsco_app.parts.html import html_page
from dpsco_app.parts.page import link

TITLE = "What you predicted, and what was measured"
VERDICTS = ("Right or close", "Off")
COLUMNS = ("Lesson", "Predicted", "Measured", "Verdict")
# On the screen and on paper.
STYLE = """
.report { border-collapse: collapse; width: 100%; }
.report caption { font-size: 0; height: 0; }
.report th, .report td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0;
  border-bottom: 1px solid rgba(128, 128, 128, 0.35); }
@media (max-width: 760px) {
  .report thead { display: none; }
  .report td { display: block; border: 0; padding: 0.1rem 0; }
  .report td:nth-child(2)::before { content: "Predicted: "; }
  .report td:nth-child(3)::before { content: "Measured: "; }
  .report td:first-child { font-weight: 600; padding-top: 0.75rem; }
}
"""
PAPER = """
body { font: 16px/1.5 Arial, sans-serif; max-width: 1000px; margin: 0 auto; padding: 1rem; }
p { overflow-wrap: anywhere; }
"""


def verdict_of(one: Answered) -> str:
    return VERDICTS[not one.verdict.close]


def progress(done: Sequence[Answered]) -> str:
    """Return how many lessons are answered, and which of them well."""
    counts = [
        f"{name}: {', '.join(str(SLUGS.index(one.lesson.slug) + 1) for one in own)}"
        for name in VERDICTS
        if (own := [one for one in done if verdict_of(one) == name])
    ]
    return " · ".join([f"{len(done)} of {len(SLUGS)} lessons answered", *counts])


def report(done: Sequence[Answered], sentence: str) -> str:
    """Return the table of what was predicted and measured, and the sentence, as HTML."""
    rows = [
        (
            step_name(one.lesson.slug),
            answer_text(one.lesson, one.prediction),
            one.finding.said.replace("**", ""),
            verdict_of(one),
        )
        for one in done
    ]
    heads = "".join(f"<th scope='col'>{name}</th>" for name in COLUMNS)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    table = (
        f"<table class='report'><caption>{TITLE}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    )
    below = f"<p><b>In one sentence:</b> {escape(sentence)}</p>" if sentence else ""
    return (table if rows else "<p>No lesson is answered yet.</p>") + below


def draw_hand_in(view: View) -> None:
    done = state.all_answered(view)
    handed, score = report(done, view.sentence), progress(done)
    st.html(head(TITLE, [score], [], theme()))
    with st.container(horizontal=True, key="learn_hand_in_files"):
        address = f"<p>To be measured again at: {escape(STATE.address(view))}</p>"
        make = partial(html_page, TITLE, STYLE + PAPER, f"<p>{score}</p>{handed}{address}")
        download("Download to print or send (HTML)", make, "dpsco-lessons.html", key="learn_report")
        link(STATE, view)
    st.caption(HANDING_IN)
    label = "In one sentence: what have you learnt? Add your name if you hand it in."
    st.text_area(label, key=STATE.key("sentence"), max_chars=MOST, height=80)
    st.html(f"<style>{STYLE}</style>{handed}")

"""Learn: a guided path, each step a question, a prediction, and an answer that is measured."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.pages.learn import state
from dpsco_app.pages.learn.figures import after, before
from dpsco_app.pages.learn.lessons import LESSONS, SLUGS, Lesson, answer_text, number
from dpsco_app.pages.learn.state import STATE
from dpsco_app.pages.learn.teachers import for_teachers
from dpsco_app.pages.learn.words import INTRODUCTION, PICTURE
from dpsco_app.parts.figures import SHARED_STYLE
from dpsco_app.parts.page import draw_wrong, explore_query, opened
from dpsco_app.parts.running import Pace
from dpsco_app.parts.touch.picture import draw_picture
from dpsco_app.shell.places import link_to
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

# The records of the picture: skewed, so that clipping moves their average one way.
SEEN = Scenario(distribution="skewed-pareto", p=2.0)
STYLE = """<style>
.st-key-learn_said { min-height: 6.4rem; }
.st-key-learn_text p, .st-key-learn_why p { max-width: 46rem; }
[class*="st-key-learn_predict_"] [data-testid="stWidgetLabel"] p {
  font-size: 1rem; font-weight: 600;
}
.st-key-learn_path { gap: 0.5rem; }
@media (max-width: 760px) {
  .st-key-learn_said { min-height: 9rem; }
}
</style>"""


def page() -> None:
    """Draw the page."""
    st.html(SHARED_STYLE + STYLE)
    view, wrong = opened(STATE)
    STATE.remember(view)
    lesson = view.shown
    with st.sidebar:
        _list_of_steps()
    st.title("Learn: what privacy costs, step by step")
    draw_wrong(wrong)
    if lesson.slug == SLUGS[0]:
        st.markdown(PICTURE)
        draw_picture(SEEN)
        st.markdown(INTRODUCTION)
    with st.container(key="learn_place"):
        done = sum(state.finished(slug) for slug in SLUGS)
        at = number(lesson.slug)
        st.progress(at / len(SLUGS), f"Step {at} of {len(SLUGS)}, {done} answered")
    st.header(lesson.words.title)
    with st.container(key="learn_text"):
        st.markdown(lesson.words.text)
    status = _ask(lesson)
    said, figures, rest = st.container(key="learn_said"), st.empty(), st.container()
    with rest:
        _go_on(lesson)
        for_teachers(view)
    _answer(lesson, status, said, figures)


def _list_of_steps() -> None:
    """Draw the list of the steps; what is answered says how well."""
    st.radio(
        "Steps",
        SLUGS,
        captions=[_mark(slug) for slug in SLUGS],
        format_func=_step_name,
        key=STATE.key("lesson"),
    )
    known = [state.runs()[s].verdict.close for s in SLUGS if state.finished(s)]
    if known:
        st.caption(f"{len(known)} answered, {sum(known)} of them right or close.")
        st.button("Forget my answers", on_click=state.forget, key="learn_forget")


def _step_name(slug: str) -> str:
    return f"{number(slug)}. {LESSONS[number(slug) - 1].words.title}"


def _mark(slug: str) -> str:
    if not state.finished(slug):
        return ""
    verdict = state.runs()[slug].verdict
    return f"✓ {verdict.mark.lower()}" if verdict.close else f"○ {verdict.mark.lower()}"


def _ask(lesson: Lesson) -> DeltaGenerator:
    """Draw the question, the prediction, Run and Cancel; return the place of the status line."""
    slug = lesson.slug
    key, held = state.prediction_key(slug), state.predictions()
    if lesson.choices:
        st.session_state.setdefault(key, held.get(slug))
        held[slug] = st.radio(
            lesson.words.question,
            list(lesson.choices),
            format_func=lambda choice: lesson.choices[choice],
            key=key,
        )
    else:
        st.session_state.setdefault(key, held.get(slug, lesson.start))
        held[slug] = st.select_slider(
            lesson.words.question,
            lesson.numbers,
            format_func=lambda value: answer_text(lesson, value),
            key=key,
        )
    running = st.session_state.get(state.RUNNING) == slug
    with st.container(horizontal=True, vertical_alignment="center", key="learn_run_row"):
        st.button(
            "Run and see",
            icon=":material/play_arrow:",
            shortcut="Ctrl+Enter",
            on_click=state.press_run,
            args=(slug,),
            disabled=held[slug] is None,
            key="learn_run",
        )
        st.button("Cancel", on_click=state.press_cancel, disabled=not running, key="learn_cancel")
        return st.empty()


def _answer(
    lesson: Lesson, status: DeltaGenerator, said: DeltaGenerator, figures: DeltaGenerator
) -> None:
    """Draw what is known: the figure before the run, a run under way, or the answer."""
    run = state.runs().get(lesson.slug)
    running = st.session_state.get(state.RUNNING) == lesson.slug
    if run is None or (not run.done and not running):
        if run is not None:
            status.markdown("Stopped. Run goes on from there.")
        elif state.predictions()[lesson.slug] is None:
            status.markdown("Choose an answer first.")
        with figures.container():
            before(lesson, *_given(lesson, status))
        return
    if not run.done:
        with figures.container():
            before(lesson, *_given(lesson, status))
        run = state.runs()[lesson.slug] = run.own()
        write = Pace(0.0)
        for share, left in run.steps():
            if write.due():
                status.progress(share, text=left)
        st.session_state[state.RUNNING] = None
        st.rerun()
    if running:  # run again, with another prediction: everything is there
        st.session_state[state.RUNNING] = None
        st.rerun()
    verdict = run.verdict
    with said:
        text = f"{verdict.sentence}\n\n{run.finding.said}"
        if verdict.close:
            st.success(text, icon=":material/check:")
        else:
            st.info(text, icon=":material/straighten:")
    with figures.container():
        after(lesson, run)
        with st.container(key="learn_why"):
            st.subheader("Why")
            st.markdown(lesson.words.why)


def _given(lesson: Lesson, status: DeltaGenerator) -> tuple[list[Outcome], list[Outcome] | None]:
    """Run what the lesson shows before its run."""
    outcomes: list[Outcome] = []
    beside: list[Outcome] | None = None
    if lesson.experiment is not None:
        return outcomes, beside
    pace = Pace(0.3)
    for outcomes, beside in state.given(lesson):  # noqa: B007  the last ones are kept
        if pace.due():
            status.markdown("Measuring what is drawn already …")
    return outcomes, beside


def _go_on(lesson: Lesson) -> None:
    """Draw the ways to the steps before and after, and to other pages."""
    at = number(lesson.slug) - 1
    with st.container(horizontal=True, key="learn_path"):
        for label, icon, to in (
            ("Back", ":material/arrow_back:", at - 1),
            ("Next", ":material/arrow_forward:", at + 1),
        ):
            if 0 <= to < len(LESSONS):
                words = LESSONS[to].words
                st.button(
                    f"{label}: {words.title}",
                    icon=icon,
                    on_click=STATE.change,
                    args=({"lesson": LESSONS[to].slug},),
                    key=f"learn_{label.lower()}",
                )
    if at == len(LESSONS) - 1:
        st.markdown(
            "That was the path. Go on in **Explore**, where all that was fixed here can be moved."
        )
    with st.container(horizontal=True, key="learn_elsewhere"):
        query = explore_query(lesson.scenario, against=lesson.against)
        link_to("explore", "Open this in Explore", query)
        for slug, label in lesson.elsewhere:
            link_to(slug, label)

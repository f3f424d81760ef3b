"""Learn: three doors, and a guided path: a question, a prediction, an answer that is measured."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.figure.colours import INK
from dpsco_app.figure.head import head
from dpsco_app.live.running import Pace
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.learn import state, words
from dpsco_app.pages.learn.charts import colour_named
from dpsco_app.pages.learn.drawing import Choosing
from dpsco_app.pages.learn.figures import figures
from dpsco_app.pages.learn.findings import LessonEvidence, curve
from dpsco_app.pages.learn.hand_in import draw_hand_in, progress
from dpsco_app.pages.learn.lessons import BY_SLUG, SLUGS, Lesson, answer_text, step_name
from dpsco_app.pages.learn.state import HAND_IN, START, STATE, View
from dpsco_app.parts.drawing import theme
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.page import draw_wrong, explore_query, fold_address, opened
from dpsco_app.parts.touch.asking import draw_question, to_the_top
from dpsco_app.shell import visit, window
from dpsco_app.shell.names import EXPLORE, LEARN, PLACES
from dpsco_app.shell.places import draw_views, link_to
from dpsco_core.runs.study import Outcome

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "doors"
NAMES = {START: "Three doors", HAND_IN: "Hand in"}  # the names of the steps that are no lesson
WIDTHS = {"medium": 820, "large": 1090}  # the place of a figure, by the size of the page
STYLE = """<style>
.st-key-learn_text p { max-width: 46rem; }
.st-key-learn_place, .st-key-learn_text { gap: 0.5rem; }
[class*="st-key-learn_predict_"] [data-testid="stWidgetLabel"] p {
  font-size: 1rem; font-weight: 600;
}
.st-key-learn_doors img { border: 1px solid rgba(128, 128, 128, 0.3); }
.st-key-learn_doors button { min-height: 0; padding: 0.25rem 0.5rem; }
.st-key-learn_doors .st-key-learn_next { margin: -0.375rem 0 -0.3rem; }  /* as a link has them */
@media (max-width: 1100px) {
  [data-testid=stColumn]:has([class*=st-key-learn_figure_], .st-key-learn_text) {
    min-width: calc(100% - 1.5rem);
  }
}
.head p:empty { display: none; }
@media (min-width: 1101px) {
  .head h2 { min-height: 2.0625rem; }
  [data-testid=stColumn]:has(> * > [class*=st-key-learn_figure_]) {
    position: sticky; top: 4rem; align-self: flex-start;
  }
}
</style>"""


def page() -> None:
    st.html(STYLE)
    view, wrong = opened(STATE)
    STATE.remember(view)
    state.take_up(view)
    to_the_top(view.lesson, run=".st-key-learn_run button")
    draw_views(LEARN)
    _place(view)
    draw_wrong(wrong)
    if view.lesson == START:
        _doors()
    elif view.lesson == HAND_IN:
        draw_hand_in(view)
    else:
        _lesson(BY_SLUG[view.lesson])
    _measure_again(st.empty())


def _place(view: View) -> None:
    """Draw the list of the steps, the ways on and back, and how well they are answered."""
    with st.container(horizontal=True, vertical_alignment="center", key="learn_place"):
        st.selectbox(
            "Step",
            (START, *SLUGS, HAND_IN),
            format_func=lambda slug: NAMES.get(slug) or step_name(slug),
            key=STATE.key("lesson"),
            label_visibility="collapsed",
            width=380,
        )
        if view.lesson in BY_SLUG:
            at = SLUGS.index(view.lesson)
            _step_button("Back", (START, *SLUGS)[at])
            _step_button("Next", (*SLUGS, HAND_IN)[at + 1])
        if view.lesson != HAND_IN:  # there the progress is the headline
            st.caption(progress(), width="content")
        if state.answered():
            st.button("Forget my answers", on_click=state.forget, key="learn_forget")


def _step_button(label: str, to: str) -> None:
    st.button(
        label,
        icon=":material/arrow_back:" if label == "Back" else ":material/arrow_forward:",
        help=NAMES.get(to) or step_name(to),
        on_click=STATE.change,
        args=({"lesson": to},),
        key=f"learn_{label.lower()}",
    )


def _doors() -> None:
    st.html(head(words.QUESTION, [words.ANSWER], [(words.INTRODUCTION, "")], theme()))
    with st.container(key="learn_doors"):
        for (slug, (name, about)), column in zip(words.DOORS.items(), st.columns(3), strict=True):
            with column:
                picture = (ASSETS / f"{slug}.svg").read_text(encoding="utf-8")
                st.image(picture, width="stretch", alt=name)
                if slug == LEARN:
                    first = {"lesson": SLUGS[0]}
                    st.button(
                        name,
                        key="learn_next",
                        on_click=STATE.change,
                        args=(first,),
                        type="tertiary",
                        icon=":material/arrow_forward:",
                    )
                else:
                    link_to(slug, name)
                st.markdown(about)


def _lesson(lesson: Lesson) -> None:
    """Draw a lesson: its figure, what it asks, and what was measured."""
    run, slug = state.runs().get(lesson.slug), lesson.slug
    running = st.session_state.get(state.RUNNING) == slug
    screen = FirstScreen("learn", beside=True)
    screen.say(step_name(slug), lesson.words.before)
    with screen.beside, st.container(key="learn_text"):
        st.markdown(lesson.words.text)
        ask = _ask(lesson)
        status = _run_row(lesson)
        verdict_place = st.container(key="learn_said")
        _go_on(lesson)
    over = run if run is not None and run.done else None
    if over is None:
        known, title = state.evidence_before(lesson, *_given(lesson, status)), lesson.words.before
    else:
        known, title = over.evidence, over.finding.headline
    screen.say(step_name(slug), title)
    (first, table), *others = figures(lesson, known, title, done=over is not None)
    right = 110 + 7 * max((len(row.name) for row in first.ladder.rows), default=0)
    screen.draw(first, width=WIDTHS.get(window.size(), 780), right=right, height=460)
    screen.draw_files(first, table, setting=setting_line(lesson.scenario))
    for i, (figure, numbers) in enumerate(others):
        below = FirstScreen(f"learn_below_{i}")
        below.head.subheader(figure.alt)
        below.draw(figure)
        below.draw_files(figure, numbers)
    _draw_question(lesson, ask, known)
    if run is not None and over is None and running:
        write = Pace(0.0)
        for share, left in run.steps():
            if write.due():
                status.progress(share, text=left)
        run.landing = st.session_state[state.LANDED] = st.session_state.get(state.LANDED, 0) + 1
    if run is not None and running:  # or run again, with another prediction
        st.session_state[state.RUNNING] = None
        st.rerun()
    if over is not None:
        with verdict_place:
            box = st.success if over.verdict.close else st.info
            box(f"{over.verdict.sentence}\n\n{over.finding.said}")
            st.markdown(f"**Why.** {lesson.words.why}")
    elif run is not None:
        status.markdown("Stopped. Run goes on from there.")
    elif state.predictions().get(slug) is None:
        status.markdown("Predict first.")
    else:
        status.empty()


def _ask(lesson: Lesson) -> DeltaGenerator:
    """Draw the choices; return the place of the slider of a number, which waits for its figure."""
    if lesson.choices:
        key = state.prediction_key(lesson.slug)
        # Written in every run: the browser may not have heard it in one that was stopped.
        st.session_state[key] = state.predictions().get(lesson.slug)
        st.radio(
            lesson.words.question,
            list(lesson.choices),
            format_func=lesson.choices.__getitem__,
            key=key,
            on_change=state.choose,
            args=(lesson.slug,),
        )
    return st.empty()


def _run_row(lesson: Lesson) -> DeltaGenerator:
    """Draw Run and Cancel; return the place of the status line."""
    with st.container(horizontal=True, vertical_alignment="center", key="learn_run_row"):
        st.button(
            "Run and see",
            icon=":material/play_arrow:",
            shortcut="Ctrl+Enter",
            on_click=state.press_run,
            args=(lesson.slug,),
            disabled=state.predictions().get(lesson.slug) is None,
            key="learn_run",
        )
        if st.session_state.get(state.RUNNING) == lesson.slug:
            st.button("Cancel", on_click=state.press_cancel, key="learn_cancel")
        return st.empty()


def _draw_question(lesson: Lesson, place: DeltaGenerator, evidence: LessonEvidence) -> None:
    """Draw what answers in the figure: a handle for a number, or the choices; and the trials."""
    run, prediction = state.runs().get(lesson.slug), state.predictions().get(lesson.slug)
    done, fresh = run is not None and run.done, 0
    if run is not None:
        fresh, run.landing = run.landing, 0
    if isinstance(lesson.draw, Choosing):
        kind, key, places = "choice", f"learn_choice_{lesson.slug}", lesson.draw.places(evidence)
        marks, colour, shown = lesson.draw.trials(evidence) if done else [], INK, theme()
        trials: Sequence[tuple[float | str, ...]]
        trials = [(x, y, shown.colour(colour_named(source))) for x, y, source in marks]
        answers = [
            {"text": text, "points": places[choice], "band": lesson.draw.band}
            for choice, text in lesson.choices.items()
        ]
        asked = {"answers": answers, "done": done}
    else:
        kind, key = "prediction", state.prediction_key(lesson.slug)
        colour = colour_named(lesson.draw.lands)
        trials = lesson.draw.trials(evidence, lesson.last) if done else []
        place_of = partial(lesson.draw.place, evidence, last=lesson.last)
        answer = run.finding.answer if run is not None and run.done else ""
        measured = start = None
        if not isinstance(answer, str):
            measured = (answer_text(lesson, answer), place_of(answer))
        if lesson.first:
            own = curve(evidence.table, lesson.first)
            start = (float(own.index[0]), float(own.iloc[0]))
        asked = {
            "question": lesson.words.question,
            "texts": [answer_text(lesson, value) for value in lesson.numbers],
            "places": [place_of(value) for value in lesson.numbers],
            "upright": lesson.draw.height is None,
            "start": start,
            "measured": measured,
        }
    chosen = None if prediction is None else lesson.answers.index(prediction)
    shared = {"figure": "learn_figure", "chosen": chosen, "trials": trials, "fresh": fresh}
    with place:
        take = partial(state.take_answer, lesson.slug, key)
        draw_question(kind, key, take, colour, **shared, **asked)


def _given(lesson: Lesson, status: DeltaGenerator) -> tuple[list[Outcome], list[Outcome]]:
    outcomes: tuple[list[Outcome], list[Outcome]] = ([], [])
    pace = Pace(0.3)
    for after_cell in state.given(lesson) if lesson.experiment is None else ():
        outcomes = after_cell
        if pace.due():
            status.markdown("Measuring what is drawn already …")
    return outcomes


def _measure_again(place: DeltaGenerator) -> None:
    """Measure the answers that the address brought along, once the page is there."""
    waiting = [run for run in state.runs().values() if run.taken_up and not run.done]
    pace = Pace(0.0)
    for run in waiting:
        for _ in run.steps():
            if pace.due():
                place.caption("Measuring your earlier answers again …")
    if waiting:
        st.rerun()


def _go_on(lesson: Lesson) -> None:
    if lesson.slug == SLUGS[-1]:
        st.markdown(
            "That was the path. Go on in **Explore**, where you can change all that was fixed here."
        )
    with st.container(horizontal=True, key="learn_elsewhere"):
        if lesson.opens != EXPLORE:
            query = visit.query(replace(lesson.scenario, axis=None, grid=()))
            link_to(lesson.opens, f"Open in {PLACES[lesson.opens]}", query)
        label = "Open in Explore" if lesson.experiment is None else "Explore such data"
        link_to(EXPLORE, label, explore_query(lesson.scenario, against=lesson.against))
        for slug, label in lesson.elsewhere:
            link_to(slug, label)
        fold_address(STATE.address(View(lesson=lesson.slug)), "learn_link", words.HOMEWORK)

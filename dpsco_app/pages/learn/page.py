"""Learn: a guided path, each step a question, a prediction, and an answer that is measured."""

from dataclasses import replace
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsco_app.live.running import Pace
from dpsco_app.pages.learn import state
from dpsco_app.pages.learn.charts import trial_colour
from dpsco_app.pages.learn.drawing import Choosing
from dpsco_app.pages.learn.figures import draw_figures
from dpsco_app.pages.learn.findings import LessonEvidence, curve
from dpsco_app.pages.learn.lessons import BY_SLUG, LESSONS, SLUGS, Lesson, answer_text, step_name
from dpsco_app.pages.learn.state import START, STATE, View
from dpsco_app.pages.learn.teachers import for_teachers
from dpsco_app.pages.learn.words import INTRODUCTION, PICTURE
from dpsco_app.parts.folding import fold
from dpsco_app.parts.look import Look
from dpsco_app.parts.page import draw_wrong, explore_query, opened
from dpsco_app.parts.touch.asking import draw_question, to_the_top
from dpsco_app.parts.touch.picture import draw_picture
from dpsco_app.shell import visit
from dpsco_app.shell.places import EXPLORE, PLACES, link_to, link_to_why
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

# The records of the picture: skewed, so that clipping moves their average one way.
SEEN = Scenario(distribution="skewed-pareto", p=2.0)
STYLE = """<style>
.st-key-learn_place h1 { font-size: 1.5rem !important; padding: 0; }
.st-key-learn_text h2 { font-size: 1.35rem; padding: 0 0 0.25rem; }
.st-key-learn_text p, .st-key-learn_why p { max-width: 46rem; }
.st-key-learn_place, .st-key-learn_path { gap: 0.5rem; }
[class*="st-key-learn_predict_"] [data-testid="stWidgetLabel"] p {
  font-size: 1rem; font-weight: 600;
}
@media (min-width: 761px) {
  [data-testid=stColumn]:has(.st-key-learn_right) {
    position: sticky; top: 4rem; align-self: flex-start;
  }
}
@media (max-width: 760px) {
}
</style>"""


def page() -> None:
    st.html(STYLE)
    view, wrong = opened(STATE)
    STATE.remember(view)
    state.take_up(view)
    to_the_top(view.lesson, run=".st-key-learn_run button")
    _place(view)
    draw_wrong(wrong)
    lesson = BY_SLUG.get(view.lesson)
    if lesson is None:  # before the first
        st.markdown(PICTURE)
        draw_picture(SEEN)
        link_to("private-mean", "This picture for your scenario")
        st.markdown(INTRODUCTION)
        _step_button("Next", 0)
        _measure_again(st.empty())
        return
    left, right = st.columns([4, 7], gap="medium")
    with left:
        with st.container(key="learn_text"):
            st.header(lesson.words.title)
            st.markdown(lesson.words.text)
        ask = _ask(lesson)
        status = _run_row(lesson)
        said, why = st.container(key="learn_said"), st.container(key="learn_why")
    with right, st.container(key="learn_right"):
        figures = st.empty()
    _go_on(lesson)
    fold("For teachers", lambda: for_teachers(view), "teachers_fold")
    rest = st.empty()
    _answer(lesson, ask, status, (said, why), figures)
    _measure_again(rest)


def _place(view: View) -> None:
    """Draw the title, the list of the steps, and how well they are answered."""
    with st.container(horizontal=True, vertical_alignment="center", key="learn_place"):
        st.title("Learn: what privacy costs, step by step", width="content")
        st.selectbox(
            "Step",
            (START, *SLUGS),
            format_func=lambda slug: "The picture" if slug == START else step_name(slug),
            key=STATE.key("lesson"),
            label_visibility="collapsed",
            width=360,
        )
        if view.lesson == START:
            link_to_why()
        if marks := _marks():
            st.caption(marks, width="content")
            st.button("Forget my answers", on_click=state.forget, key="learn_forget")


def _marks() -> str:
    steps: dict[str, list[str]] = {"Right or close": [], "Off": []}
    for i, slug in enumerate(SLUGS, start=1):
        run = state.runs().get(slug)
        if run is not None and run.done:
            steps["Right or close" if run.verdict.close else "Off"].append(str(i))
    return " · ".join(f"{name}: {', '.join(at)}" for name, at in steps.items() if at)


def _ask(lesson: Lesson) -> DeltaGenerator:
    """Draw the choices; return the place of the slider of a number, which waits for its figure."""
    if lesson.choices:
        key, held = state.prediction_key(lesson.slug), state.predictions()
        st.session_state.setdefault(key, held.get(lesson.slug))
        held[lesson.slug] = st.radio(
            lesson.words.question,
            list(lesson.choices),
            format_func=lambda choice: lesson.choices[choice],
            key=key,
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
    run, held = state.runs().get(lesson.slug), state.predictions().get(lesson.slug)
    done, fresh = run is not None and run.done, 0
    if run is not None:
        fresh, run.landing = run.landing, 0
    if isinstance(lesson.draw, Choosing):
        kind, key, places = "choice", f"learn_choice_{lesson.slug}", lesson.draw.places(evidence)
        look = Look(dark=st.context.theme.type == "dark")
        found = lesson.draw.trials(evidence) if done else []
        trials = [(x, y, look.colour(trial_colour(of))) for x, y, of in found]
        answers = [
            {"text": text, "points": places[choice], "band": lesson.draw.band}
            for choice, text in lesson.choices.items()
        ]
        asked = {"answers": answers, "done": done}
    else:
        kind, key = "prediction", state.prediction_key(lesson.slug)
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
    chosen = None if held is None else lesson.answers.index(held)
    shared = {"figure": "learn_figure", "chosen": chosen, "trials": trials, "fresh": fresh}
    with place:
        draw_question(kind, key, lambda: state.answered(lesson.slug, key), **shared, **asked)


def _answer(
    lesson: Lesson,
    ask: DeltaGenerator,
    status: DeltaGenerator,
    words: tuple[DeltaGenerator, DeltaGenerator],
    figures: DeltaGenerator,
) -> None:
    """Draw what is known: the figure before the run, a run under way, or the answer."""
    run = state.runs().get(lesson.slug)
    running = st.session_state.get(state.RUNNING) == lesson.slug
    if run is None or not run.done:
        known = state.evidence_before(lesson, *_given(lesson, status))
        with figures.container():
            draw_figures(lesson, known, lesson.words.before, done=False)
        _draw_question(lesson, ask, known)
    if run is None or (not run.done and not running):
        if run is not None:
            status.markdown("Stopped. Run goes on from there.")
        elif state.predictions().get(lesson.slug) is None:
            status.markdown("Predict first.")
        else:
            status.empty()
        return
    if not run.done:
        run = state.runs()[lesson.slug] = run.own()
        write = Pace(0.0)
        for share, left in run.steps():
            if write.due():
                status.progress(share, text=left)
        run.landing = st.session_state[state.LANDED] = st.session_state.get(state.LANDED, 0) + 1
    if running:  # or run again, with another prediction: everything is there
        st.session_state[state.RUNNING] = None
        st.rerun()
    verdict = run.verdict
    said, why = words
    with said:
        text = f"{verdict.sentence}\n\n{run.finding.said}"
        if verdict.close:
            st.success(text, icon=":material/check:")
        else:
            st.info(text, icon=":material/straighten:")
    with figures.container():
        draw_figures(lesson, run.evidence, run.finding.headline, done=True)
    _draw_question(lesson, ask, run.evidence)
    with why:
        st.subheader("Why")
        st.markdown(lesson.words.why)


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
        own = run.own()
        for _ in own.steps():
            if pace.due():
                place.caption("Measuring your earlier answers again …")
        state.runs()[run.lesson.slug] = own
    if waiting:
        st.rerun()


def _step_button(label: str, to: int) -> None:
    st.button(
        f"{label}: {LESSONS[to].words.title}",
        icon=":material/arrow_back:" if label == "Back" else ":material/arrow_forward:",
        on_click=STATE.change,
        args=({"lesson": LESSONS[to].slug},),
        key=f"learn_{label.lower()}",
    )


def _go_on(lesson: Lesson) -> None:
    at = SLUGS.index(lesson.slug)
    with st.container(horizontal=True, key="learn_path"):
        if at > 0:
            _step_button("Back", at - 1)
        if at < len(LESSONS) - 1:
            _step_button("Next", at + 1)
    if at == len(LESSONS) - 1:
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

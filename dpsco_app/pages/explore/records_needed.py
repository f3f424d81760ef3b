"""The number of records, or the budget, needed for a target error, computed on a button."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import streamlit as st

from dpsco_app.front.study import chosen_point
from dpsco_app.parts.options import in_print
from dpsco_app.parts.problem_words import words_for
from dpsco_app.session.result import Result
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.explain.need import error_in_words, in_words, need
from dpsco_core.explain.need.runs import Unknown
from dpsco_core.runs.cost import cost
from dpsco_core.scenario import Scenario

RUNS = 160  # The approximate number of runs for an answer.
LEAST_ERROR = 1e-9  # The smallest target error.
ANSWER = "need_answer"
GREEK = {"epsilon": "ε", "rho": "ρ"}


def draw_need(result: Result, lead: str) -> None:
    """Draw the form that asks for the records or the budget for a target error, and its answer.

    At first it has the method `lead` and half of that method's error.
    """
    point = replace(result.scenario, axis=None, grid=())
    words = words_for(point.problem)
    budget: Unknown = "epsilon" if point.rho is None else "rho"
    names = {
        f"Number of {'users' if point.m > 1 else 'records'}": "n",
        f"Privacy budget {GREEK[budget]}": budget,
    }
    with st.container(horizontal=True, vertical_alignment="bottom"):
        _set_control("need_method", lead or point.methods[0], point.methods)
        method = st.selectbox(
            words.method.capitalize(),
            point.methods,
            format_func=lambda slug: method_card(slug).name,
            key="need_method",
            on_change=_keep,
            args=("need_method",),
        )
        unknown = names[st.selectbox("Find", names, key="need_unknown")]
        _set_control("need_error", max(LEAST_ERROR, _half_error(result, method)))
        error = st.number_input(
            f"Target: median {words.error}",
            min_value=LEAST_ERROR,
            format="%.3g",
            key="need_error",
            on_change=_keep,
            args=("need_error",),
        )
        pressed = st.button("Find it", icon=":material/search:", key="need_run")
    question = (point, method, unknown, error)
    if pressed:
        st.session_state[ANSWER] = question, _answer(point, method, error, unknown)
    stored_answer = st.session_state.get(ANSWER)
    if stored_answer is not None and stored_answer[0] == question:
        st.markdown("  \n".join(stored_answer[1]))
    else:
        st.caption(
            f"Runs the {words.method} at several sizes, starting from the chosen point, until its "
            "median error is close to the target. Everything else stays as it is."
        )


def _set_control(key: str, value: object, choices: Sequence[object] = ()) -> None:
    """Set a control to the visitor's choice if it is still offered, and otherwise to `value`."""
    chosen = st.session_state.get(f"{key}_chosen", value)
    st.session_state[key] = chosen if not choices or chosen in choices else value


def _keep(key: str) -> None:
    """Keep the value of the widget with a key for the time when it is not drawn."""
    st.session_state[f"{key}_chosen"] = st.session_state[key]


def _half_error(result: Result, method: str) -> float:
    """Return half of a method's median error at the chosen point, or 0.1 without any error."""
    x = chosen_point(result.scenario)
    errors = [o.error for o in result.outcomes if (o.method, o.x) == (method, x) and o.error > 0]
    return float(f"{median(errors) / 2:.1g}") if errors else 0.1


def _answer(point: Scenario, method: str, error: float, unknown: Unknown) -> tuple[str, ...]:
    """Find the value of `unknown` at which a method's median error meets the target; return lines.

    A bar shows the progress of the runs. If the search is refused, the line is the reason.
    """
    bar = st.progress(0.0, text="Running …")

    def tell(done: int) -> None:
        """Show in the progress bar how many runs are done."""
        bar.progress(min(1.0, done / RUNS), text=f"{done} runs …")

    try:
        answer = need(
            point, method, error, unknown, elements=_elements(point, method), progress=tell
        )
        sentences = (*in_words(answer, users=point.m > 1), error_in_words(point, error))
        return tuple(in_print(text) for text in sentences)
    except (InvalidInput, NotApplicable) as refusal:
        return (str(refusal),)
    finally:
        bar.empty()


def _elements(point: Scenario, method: str) -> int:
    """Return the largest product n d m at which the dashboard's time is enough for all runs."""
    allowed = DASHBOARD.elements
    largest = replace(
        point,
        n=max(4, min(DASHBOARD.n, allowed // (point.d * point.m))),
        methods=(method,),
        trials=RUNS,
    )
    seconds = cost(largest, exact=False).seconds
    return max(4 * point.d * point.m, int(allowed * min(1.0, DASHBOARD.seconds / seconds)))

"""How many records, or which budget, a target error takes: worked out on a button."""

from dataclasses import replace

import streamlit as st

from dpsco_app.live.running import Result
from dpsco_app.parts.options import in_print
from dpsco_app.parts.problem_words import words_for
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.explain.need import in_words, need
from dpsco_core.explain.need.runs import Unknown
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.cost import cost
from dpsco_core.scenario import Scenario

RUNS = 160  # about as many as an answer takes
LEAST = 1e-9  # the smallest error that can be asked for
ANSWER = "need_answer"
GREEK = {"epsilon": "ε", "rho": "ρ"}


def draw_need(result: Result) -> None:
    point = replace(result.scenario, axis=None, grid=())
    words = words_for(point.problem)
    whom = "users" if point.m > 1 else "records"
    budget: Unknown = "epsilon" if point.rho is None else "rho"
    names = {f"Number of {whom}": "n", f"Privacy budget {GREEK[budget]}": budget}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        private = (i for i, m in enumerate(point.methods) if method_card(m).privacy != "none")
        method = st.selectbox(
            words.method.capitalize(),
            point.methods,
            next(private, 0),
            format_func=lambda slug: method_card(slug).name,
            key="need_method",
        )
        asked = st.selectbox("Find", names, key="need_unknown")
        error = st.number_input(
            f"Target: median {words.error}",
            min_value=LEAST,
            value=max(LEAST, _half(result, method)),
            format="%.3g",
            key="need_error",
        )
        pressed = st.button("Find it", icon=":material/search:", key="need_run")
    unknown = names[asked]
    question = (point, method, unknown, error)
    if pressed:
        st.session_state[ANSWER] = question, _answer(point, method, error, unknown)
    known = st.session_state.get(ANSWER)
    if known is not None and known[0] == question:
        st.markdown("  \n".join(known[1]))
    else:
        st.caption(
            f"Runs the {words.method} at several sizes, starting from the chosen point, until its "
            "median error is close to the target. Everything else stays as it is."
        )


def _half(result: Result, method: str) -> float:
    """Return half of the method's first median error: a target that takes more than there is."""
    table = summary(frame(o for o in result.outcomes if o.method == method))
    medians = table[table["median_error"] > 0]["median_error"]
    return float(f"{medians.iloc[0] / 2:.2g}") if len(medians) else 0.1


def _answer(point: Scenario, method: str, error: float, unknown: Unknown) -> tuple[str, ...]:
    bar = st.progress(0.0, text="Running …")

    def tell(done: int) -> None:
        bar.progress(min(1.0, done / RUNS), text=f"{done} runs …")

    try:
        answer = need(
            point, method, error, unknown, elements=_elements(point, method), progress=tell
        )
        return tuple(in_print(text) for text in in_words(answer, users=point.m > 1))
    except (InvalidInput, NotApplicable) as refusal:
        return (str(refusal),)
    finally:
        bar.empty()


def _elements(point: Scenario, method: str) -> int:
    """Return the largest n d m that the dashboard's time allows for all runs."""
    most = DASHBOARD.elements
    largest = replace(
        point,
        n=max(4, min(DASHBOARD.n, most // (point.d * point.m))),
        methods=(method,),
        trials=RUNS,
    )
    seconds = cost(largest, exact=False).seconds
    return max(4 * point.d * point.m, int(most * min(1.0, DASHBOARD.seconds / seconds)))

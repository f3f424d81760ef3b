"""Explore for optimisation: every loss with every optimiser, its words, its links, its refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpsco_app.figure.methods import short_names
from dpsco_app.front.study import Study
from dpsco_app.pages.one_run.state import View, chosen, fit
from dpsco_app.parts.evaluations import starting_risks
from dpsco_app.parts.problem_words import words_for
from dpsco_app.parts.refusals import Refusal, changed_scenario, grouped_refusals, measured_refusals
from dpsco_app.parts.shown_bounds import shown
from dpsco_core.catalogue import (
    METHOD_SLUGS,
    bound,
    default_methods,
    method_card,
    methods_for,
    problem_card,
)
from dpsco_core.explain.hardest import hardest_case
from dpsco_core.explain.methods.guide import refusal
from dpsco_core.explain.promise import lower_cards
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.results.price import reference_method
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    address_scenario,
    annotation_texts,
    first_figure,
    headline_text,
    is_stale,
    ladder_numbers,
    line_below,
    open_page,
    press_button,
    shown_result,
    status_line,
    trace_names,
)
from tests.app.results import run

MEDIAN = "geometric-median"
QUADRATIC = Scenario(
    problem="quadratic",
    methods=("sco.erm", "sco.clipped"),
    p=2,
    d=5,
    axis="n",
    grid=(500, 2000),
    trials=3,
)


# Every test run covers these losses; `make test-slow` covers the others.
FEW_PROBLEMS = ("quadratic", "logistic", "absolute")
LOSSES = [p if p in FEW_PROBLEMS else pytest.param(p, marks=pytest.mark.slow) for p in SCO_PROBLEMS]


@pytest.mark.parametrize("problem", LOSSES)
def test_every_optimiser_is_measured_or_refused_on_every_loss(problem: str) -> None:
    methods = methods_for(problem, "item")
    small = {"trials": "1", "grid": "500", "d": "5"}
    page = open_page(problem=problem, methods=",".join(methods), card="others", **small)
    assert shown_result(page).complete and "Measured in " in status_line(page)
    wide = trace_names(first_figure(page))
    short = short_names(methods)
    remarks = "\n".join(i.value for i in page.info)
    refused = {o.method for o in shown_result(page).outcomes if o.not_applicable}
    assert set(methods) - refused
    for method in methods:
        name = method_card(method).name
        assert (short[method] in wide) == (method not in refused)
        assert (name in remarks) or method not in refused
    assert "sco." not in remarks
    assert any("Excess population risk" in text for text in annotation_texts(first_figure(page)))
    assert "answer without data" in ladder_numbers(page)
    assert "xcess risk" in line_below(page) + headline_text(page) or "not looking" in headline_text(
        page
    )


@pytest.mark.parametrize("problem", LOSSES)
def test_every_way_out_of_a_refusal_leads_out_of_it(problem: str) -> None:
    """The button's scenario is allowed, and some method that could not run runs there."""
    scenario = Scenario(
        problem=problem, methods=methods_for(problem, "item"), n=1000, d=5, trials=1
    )
    for tuning in ("practical", "theory"):
        refusing = replace(scenario, tuning=tuning)
        for refused in measured_refusals(run(refusing).outcomes):
            if not refused.changes:
                continue
            way_out = changed_scenario(refusing, refused).validate()
            for _ in range(3):  # A second reason may appear once the first is resolved.
                point = replace(way_out, axis=None, grid=())
                left = [m for m in refused.methods if m in way_out.methods and refusal(point, m)]
                if not left:
                    break
                outcomes = run(replace(way_out, methods=tuple(left))).outcomes
                (next_refusal, *_) = measured_refusals(outcomes)
                assert next_refusal.reason != refused.reason
                way_out = changed_scenario(
                    replace(way_out, methods=tuple(left)), next_refusal
                ).validate()
            else:
                pytest.fail(f"{refused.names} cannot run on {problem} after three changes")


def test_a_new_problem_takes_its_default_methods_and_keeps_everything_else() -> None:
    page = open_page(d="5", offset="0.5", diameter="10", margin="1", seed="4")
    old_scenario = address_scenario(page)
    page.get_by_key("field_problem").set_value("logistic")
    page.run()
    assert is_stale(page)
    assert set(address_scenario(page).methods) == set(default_methods("logistic"))
    assert (
        replace(address_scenario(page), problem="mean", methods=old_scenario.methods)
        == old_scenario
    )
    press_button(page, "Run")
    assert shown_result(page).complete and not is_stale(page)
    page.get_by_key("field_methods").set_value(["sco.clipped"])
    page.run()
    page.get_by_key("field_problem").set_value("hinge")
    page.run()
    # This method also supports the hinge loss.
    assert address_scenario(page).methods == ("sco.clipped",)
    page.get_by_key("field_problem").set_value("mean")
    page.run()
    assert set(address_scenario(page).methods) == set(default_methods("mean"))
    assert replace(address_scenario(page), methods=old_scenario.methods) == old_scenario


def test_methods_of_the_other_kind_are_not_offered() -> None:
    page = open_page(problem="huber", trials="1", grid="500")
    press_button(page, next(b.label for b in page.button if b.key == "methods_more"))
    names = short_names(item_methods := methods_for("huber", "item"))
    offered = [text.split(" ", 1)[1] for text in page.get_by_key("field_methods").options]
    assert offered == [names[m] for m in item_methods]


def test_the_controls_of_a_linear_model_are_named_after_features_and_its_parameter() -> None:
    labels = {}
    for problem in ("mean", "quadratic", "logistic"):
        page = open_page(problem=problem, trials="1", grid="500")
        labels[problem] = [page.get_by_key(f"field_{f}").label for f in ("distribution", "offset")]
    assert labels["mean"] == ["Data", "Norm of the true mean ‖μ‖"]
    assert labels["logistic"] == ["Features", "Norm of the true parameter ‖w*‖"]
    assert labels["quadratic"][0] == "Data"
    # For a hard law the mean is the law's own, but the true parameter can still be chosen.
    page = open_page(problem="logistic", distribution="hypercube", trials="1", grid="500")
    assert page.get_by_key("field_offset").label.startswith("Norm of the true parameter")


def test_a_link_restores_an_optimisation_scenario() -> None:
    query = {
        "problem": "absolute",
        "methods": "sco.cwme,sco.clipped",
        "offset": "2",
        "diameter": "10",
        "rho": "0.5",
        "show": "rates",
    }
    page = open_page(**query)
    assert not page.warning
    reopened = open_page(**dict(page.query_params.items()))
    assert address_scenario(reopened) == address_scenario(page) == shown_result(reopened).scenario
    assert reopened.session_state["show"] == ["rates"]
    assert (address_scenario(page).problem, address_scenario(page).rho) == ("absolute", 0.5)


def test_a_bad_method_for_the_problem_costs_its_own_field_only() -> None:
    page = open_page(problem="logistic", methods="mean.clipped", d="5", trials="1")
    (warning,) = page.warning
    assert "for the problem logistic" in warning.value
    assert address_scenario(page).d == 5 and address_scenario(page).problem == "logistic"


def test_a_problem_without_methods_in_the_address_takes_its_defaults() -> None:
    page = open_page(problem="geometric-median", trials="1", grid="500")
    assert set(address_scenario(page).methods) == set(default_methods("geometric-median"))


def test_the_answer_without_data_is_drawn_at_its_risk() -> None:
    page = open_page(problem="quadratic", p="2", offset="1", trials="1", card="proof")
    (start,) = [t for t in first_figure(page)["data"] if t.get("name") == "answer without data"]
    assert set(start["y"]) == {0.5}  # The risk is half of the squared distance.
    assert start["line"]["dash"] == "dot"
    # The error is the distance of the mean from 0.
    assert starting_risks(Scenario()) == [(None, 1.0)]


def test_a_reference_without_error_in_every_run_has_its_expected_risk() -> None:
    page = open_page(
        problem="linear", distribution="hypercube", methods="sco.erm,sco.clipped", p="2"
    )
    means = [o.error for o in shown_result(page).outcomes if o.method == "sco.erm"]
    assert means.count(0.0) > 0.9 * len(means)
    assert "times" in headline_text(page)
    assert (
        first_figure(page)["layout"]["yaxis"]["range"][0] > -7
    )  # Rounding errors do not stretch the axis.


@pytest.mark.parametrize(
    ("problem", "law", "name"),
    [
        ("logistic", "one-hot", "logistic regression"),
        ("huber", "any-labels", "Huber regression"),
        ("hinge", "one-hot", "SVM (hinge loss)"),
    ],
)
def test_the_hardest_case_of_a_loss_is_the_instance_of_its_sharpest_bound(
    problem: str, law: str, name: str
) -> None:
    page = open_page(problem=problem, trials="2", grid="500,2000", against="hardest")
    second_result = shown_result(page).beside
    assert second_result is not None and second_result.complete
    assert (second_result.scenario.problem, second_result.scenario.distribution) == (problem, law)
    assert "on the hardest data known" in headline_text(page)
    words = " ".join(annotation_texts(first_figure(page)))
    assert f"The hardest data known: {name}" in words


def test_a_hypercube_law_of_the_features_is_not_the_problems_hard_instance() -> None:
    page = open_page(problem="logistic", distribution="hypercube", trials="2")
    assert not any(name.endswith(" floor") for name in trace_names(first_figure(page)))


def refused_by(scenario: Scenario, method: str) -> Refusal:
    """Return the sentence with which a method that the scenario does not list refuses it."""
    refused = refusal(canonical(replace(scenario, axis=None, grid=())), method)
    assert refused is not None
    return grouped_refusals([(method, str(refused), refused.changes)])[0]


def test_an_optimiser_that_cannot_run_says_why_and_runs_after_its_change() -> None:
    page = open_page(problem="hinge", methods="sco.clipped,sco.phased-sgd", trials="1", grid="500")
    (remark,) = [info.value for info in page.info]
    assert remark.startswith("**Phased SGD**: ") and "kinks" in remark
    (phased,) = measured_refusals(shown_result(page).outcomes)
    way_out = changed_scenario(shown_result(page).scenario, phased)
    assert "sco.clipped" in way_out.methods and not refusal(way_out, way_out.methods[-1])


def test_a_refusal_uses_the_names_and_symbols_of_the_screen() -> None:
    page = open_page(methods="mean.sample,mean.cwme-cdp", delta="0", trials="1", grid="500")
    (remark,) = [info.value for info in page.info]
    assert "δ = 10⁻⁶" in remark
    assert not [word for word in ("delta", "1e-06", *METHOD_SLUGS) if word in remark]


def test_a_new_problem_keeps_the_methods_that_fit_and_a_delta_replaces_rho() -> None:
    least_squares = replace(QUADRATIC, problem="least-squares")
    way_out = changed_scenario(least_squares, refused_by(least_squares, "sco.noisy-gd")).validate()
    assert way_out.problem == "logistic" and set(QUADRATIC.methods) <= set(way_out.methods)
    zcdp = replace(QUADRATIC, epsilon=None, delta=None, rho=0.5)
    way_out = changed_scenario(zcdp, refused_by(zcdp, "sco.objective-perturbation")).validate()
    assert not refusal(replace(way_out, axis=None, grid=()), "sco.objective-perturbation")


def test_one_run_shows_the_chosen_method_else_clipped_gradients_else_the_first_private_one() -> (
    None
):
    swept = replace(QUADRATIC, n=3000, methods=("sco.erm", "sco.cwme"), axis="n", grid=(500, 1000))
    assert fit(swept) == swept and chosen(swept, View()) == "sco.cwme"
    with_clipped = replace(swept, methods=("sco.cwme", "sco.clipped"))
    assert chosen(with_clipped, View()) == "sco.clipped"
    assert chosen(with_clipped, View(method="sco.cwme")) == "sco.cwme"
    without_private = replace(swept, methods=("sco.erm",))
    assert chosen(fit(without_private), View()) == "sco.clipped"


def test_bounds_are_chosen_by_their_cards() -> None:
    logistic = replace(QUADRATIC, problem="logistic")
    assert set(shown(logistic, ("lower bounds",))) == {
        "lower.sco.fano-cdp",
        "lower.sco.hypercube-cdp",
        "lower.sco.fano-distance-cdp",
        "lower.sco.two-sided-cdp",
        "lower.sco.tracing-cdp",
        "lower.sco.approx-assouad",
        "lower.sco.approx-packing",
        "lower.sco.approx-tracing",
        "lower.sco.logistic-cdp",
        "lower.sco.logistic-approx",
        "lower.sco.logistic-corners-cdp",
        "lower.sco.logistic-corners-approx",
        *(  # Every other kind of set has these three bounds.
            f"lower.sco.{name}"
            for body in ("lq", "corners", "blocks")
            for name in (f"fano-{body}-cdp", f"two-sided-{body}-cdp", f"approx-{body}")
        ),
    }
    pair = replace(logistic, methods=("sco.clipped", "sco.cwme"))
    assert {"upper.sco.clipped", "upper.sco.cwme"} <= set(shown(pair, ("rates",)))
    # A strongly convex loss has only the bounds of its own, smaller class.
    assert all(c.loss_class.strongly_convex for c in lower_cards("quadratic"))
    for problem in ("mean", *SCO_PROBLEMS):
        loss_class = problem_card(problem).loss_class
        assert lower_cards(problem)
        assert all(c.applies_to(loss_class) for c in lower_cards(problem))
        assert all(c.quantity == words_for(problem).quantity for c in lower_cards(problem))
        assert reference_method(default_methods(problem))


def test_the_median_has_the_bounds_of_its_own_loss_alone() -> None:
    """Gradients of at most 1 are in the class of no other hard instance."""
    page = open_page(problem=MEDIAN, trials="1", show="lower bounds,rates,upper bounds")
    assert shown_result(page).complete and not page.exception
    lowers = [
        s for s in shown(shown_result(page).scenario, ("lower bounds", "rates")) if "lower." in s
    ]
    assert {bound(slug).card.instance_problem for slug in lowers} == {MEDIAN}
    hard = hardest_case(shown_result(page).scenario)
    assert hard is not None and (hard.problem, hard.distribution) == (MEDIAN, "far-points")


def test_a_problem_without_bounds_is_drawn_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsco_app.parts.shown_bounds.bounds_for", lambda *_: ())
    monkeypatch.setattr("dpsco_core.explain.promise.bounds_for", lambda *_: ())
    lower_cards.cache_clear()
    try:
        page = open_page(problem="quadratic", trials="1", show="lower bounds,rates,upper bounds")
        assert shown_result(page).complete and not page.exception
        assert "non-private risk minimiser (" in line_below(page)
    finally:
        lower_cards.cache_clear()


def test_the_table_of_numbers_says_how_exact_an_averaged_risk_is() -> None:
    from dpsco_app.pages.explore.details import numbers

    logistic = replace(QUADRATIC, problem="logistic")
    averaged = numbers(run(logistic).outcomes, logistic)
    assert {"Optimiser", "Mean excess population risk", "Evaluation ±"} <= set(averaged.columns)
    assert (averaged["Evaluation ±"] > 0).all()
    exact = numbers(run(QUADRATIC).outcomes, QUADRATIC)
    assert "Evaluation ±" not in exact.columns


def test_the_table_of_numbers_has_the_exact_errors_of_the_figure() -> None:
    from dpsco_app.pages.explore.details import numbers

    hard = replace(QUADRATIC, distribution="hypercube", axis=None, grid=(), n=1000, trials=2)
    outcomes = run(hard).outcomes
    table, figure = numbers(outcomes, hard), Study(scenario=hard, outcomes=outcomes).table
    assert table["Mean excess population risk"].tolist() == [r.mean for r in figure.values()]
    exact = [m == "sco.erm" for m, _ in figure]
    assert (table["95 % ±"] == "exact").tolist() == exact and any(exact)

"""Every preset, and every estimator in every notion of privacy, runs to its end."""

from __future__ import annotations

import base64
import json
import math
from dataclasses import replace

import numpy as np
import plotly.io as pio
import pytest
from dpsco_app.parts.words import best_private
from streamlit.testing.v1 import AppTest

from dpsco_app.parts.evaluations import starting_risks, without_data
from dpsco_app.parts.options import NO_SET, SYMBOL, TAIL
from dpsco_app.parts.presets import DEFAULT, PRESETS, Preset
from dpsco_app.parts.problem_words import baseline
from dpsco_app.parts.refusals import refusal
from dpsco_app.parts.running import Result
from dpsco_core.catalogue import method_card, methods_for
from dpsco_core.results.findings import tail_method
from dpsco_core.results.report import evaluate_all
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    chosen,
    figure,
    is_stale,
    numbers_in,
    open_page,
    press,
    result,
    sentence,
    status,
    texts,
    trace_names,
)

NOTIONS = {"approx": {}, "zcdp": {"rho": "0.1"}, "pure": {"delta": "0"}}


# The longest ones run in `make test-slow`.
LONG = ("Non-smooth: absolute", "Logistic regression in private")
RAN: dict[str, Result] = {}  # of the presets, by name: what they show need not be run again


@pytest.mark.parametrize(
    "preset",
    [pytest.param(p, marks=[pytest.mark.slow] * (p.name in LONG), id=p.name) for p in PRESETS],
)
def test_a_preset_runs_to_its_end_and_makes_its_point(preset: Preset) -> None:
    page = press(open_page(), preset.name)
    RAN[preset.name] = result(page)
    assert chosen(page) == result(page).scenario == preset.scenario
    assert result(page).done and status(page).startswith("Finished")
    assert not is_stale(page)
    refused = {method_card(o.method).name for o in result(page).outcomes if o.not_applicable}
    beside = result(page).beside
    assert (beside is None) == (preset.against == NO_SET)
    drawn = trace_names(figure(page))
    tail = preset.against == TAIL
    ends = [""] if beside is None or tail else [", ℓ₁ ball", ", ℓ₂ ball"]
    for name in (method_card(slug).name + end for slug in preset.scenario.methods for end in ends):
        assert (name in drawn) == (name.split(",")[0] not in refused)
    against = baseline(preset.scenario.problem) in preset.scenario.methods
    below = ": below " in sentence(page) or "and below " in sentence(
        page
    )  # easier than the worst case: no ratio to it
    # A lower bound is proven on the l2 ball; below it, data are easier: there is no ratio.
    bounded = (beside is None or tail) and not below
    second = beside is not None and not tail
    assert len(numbers_in(sentence(page))) == 1 + against + bounded + second
    assert preset.look_for in texts(page)
    expect_one_number(page, preset.scenario)


def expect_one_number(page: AppTest, scenario: Scenario) -> None:
    """The error drawn at the chosen point is that of the sentence and of the table."""
    best = best_private(scenario, result(page).table())
    assert best is not None
    method, at, _ = best
    if result(page).beside is not None and result(page).beside.scenario.p != scenario.p:
        method = tail_method(scenario)  # the one of the headline
    name = method_card(method).name
    shown = next(d.value for d in page.dataframe if "Trials" in d.value)
    here = shown[shown[SYMBOL[str(scenario.axis)]] == at].set_index(shown.columns[0])
    means = here[next(c for c in shown.columns if c.startswith("Mean"))]
    drawn = pio.from_json(json.dumps(figure(page)), skip_invalid=True)
    marks = [
        y
        for t in drawn.data
        if str(t.name).replace("<br>", "").startswith(name) and "markers" in str(t.mode)
        for x, y in zip(list_of(t.x), list_of(t.y), strict=True)
        if x == at
    ]
    assert any(y == pytest.approx(means[name], rel=1e-6) for y in marks)
    assert numbers_in(sentence(page))[0] == float(f"{means[name]:.2g}")
    start = without_data(replace(scenario, grid=(at,)).points()[0][1])
    private = [m for m in scenario.methods if method_card(m).privacy != "none"]
    worse = [m for m in private if means.get(method_card(m).name, 0) > start > 0]
    assert bool(worse) == ("worse than not looking at the data" in sentence(page))


def list_of(values: object) -> list[float]:
    """Return the numbers of a trace, which may be written as bytes."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), values["dtype"]).tolist()
    return [] if values is None else list(values)


def means(preset_name: str) -> dict[str, list[float]]:
    preset = next(p for p in PRESETS if p.name == preset_name)
    shown = RAN.get(preset.name) or result(press(open_page(), preset.name))
    assert shown.scenario == preset.scenario
    table = summary(frame(shown.outcomes))
    return {m: list(g.sort_values("x")["mean_error"]) for m, g in table.groupby("method")}


@pytest.mark.folded
def test_heavy_tails_keep_radii_that_are_fixed_in_advance_two_to_four_times_above_the_grey() -> (
    None
):
    errors = means("Heavy tails hurt")
    assert set(DEFAULT.scenario.methods) == set(errors)
    for slug in ("mean.clipped", "mean.cwme-cdp"):
        ratios = [a / b for a, b in zip(errors[slug], errors["mean.sample"], strict=True)]
        assert min(ratios) > 1.9 and max(ratios) < 4.1
    pairs = zip(errors["mean.adaptive"], errors["mean.sample"], strict=True)
    assert max([a / b for a, b in pairs][3:]) < 5 / 4


@pytest.mark.folded
def test_a_private_look_finds_centre_and_radius_where_the_bound_on_the_mean_is_wide() -> None:
    errors = means("Choose the radius for me")
    ratios = [a / b for a, b in zip(errors["mean.adaptive"], errors["mean.clipped"], strict=True)]
    assert max(ratios[:-1]) < 1 / 2 and ratios[-1] < 1


@pytest.mark.folded
def test_not_knowing_the_place_costs_adaptive_clipping_little_and_a_fixed_radius_its_width() -> (
    None
):
    errors = means("Where is the mean?")
    rises = {slug: values[-1] / values[0] for slug, values in errors.items()}
    assert 0.8 < rises["mean.sample"] < 1.25
    assert rises["mean.adaptive"] < 2
    assert 5 < rises["mean.clipped"] < 7.5 and 15 < rises["mean.cwme-cdp"] < 25


@pytest.mark.folded
def test_privacy_is_free_from_two_on_for_simple_clipping() -> None:
    errors = means("Privacy is free")
    assert errors["mean.clipped"][0] > 5 * errors["mean.sample"][0]
    # With 120 trials the ratio is 1.09 at 2 and 1.02 at 5; ten trials leave a tenth of doubt.
    assert max(errors["mean.clipped"][5:]) < 1.2 * errors["mean.sample"][0]
    assert errors["mean.clipped"][-1] < 1.05 * errors["mean.sample"][-1]
    assert errors["mean.cwme-cdp"][-1] < 1.1 * errors["mean.sample"][-1]


@pytest.mark.folded
def test_dimension_bites_the_laplace_noise_harder_beyond_ten() -> None:
    errors = means("Dimension bites")
    ratios = [a / b for a, b in zip(errors["mean.cwme-pure"], errors["mean.cwme-cdp"], strict=True)]
    assert ratios[0] < 0.8 and min(ratios[1:3]) > 0.8 and max(ratios[1:3]) < 1.2
    assert ratios[4] > 1.5 and ratios[5] > 2


@pytest.mark.folded
def test_the_theorems_parameters_err_more_than_the_answer_zero() -> None:
    errors = means("Theory's constants")
    assert min(errors["mean.cwme-cdp"]) > 1
    assert errors["mean.iterative"] == pytest.approx([1.0] * 5)


@pytest.mark.folded
def test_every_error_falls_with_p_and_the_price_of_clipping_hardly_changes() -> None:
    errors = means("The price at every tail")
    assert all(values[-1] < values[0] for values in errors.values())
    assert errors["mean.sample"][-1] < 0.5 * errors["mean.sample"][0]  # without privacy, too
    paid = {
        m: [a / b for a, b in zip(v, errors["mean.sample"], strict=True)] for m, v in errors.items()
    }
    for slug in ("mean.clipped", "mean.cwme-cdp"):
        assert 2 / 3 < paid[slug][-1] / paid[slug][0] < 3 / 2
    assert 1.6 < paid["mean.smoothed"][-1] / paid["mean.smoothed"][0] < 3


@pytest.mark.folded
def test_the_light_tail_starts_dearer_and_ends_cheaper_than_the_heavy_one() -> None:
    means("Heavy tails hurt")
    beside = RAN["Heavy tails hurt"].beside if "Heavy tails hurt" in RAN else None
    if beside is None:
        beside = result(press(open_page(), "Heavy tails hurt")).beside
    assert beside is not None and beside.scenario.p == 8
    heavy = summary(frame(study(replace(DEFAULT.scenario, methods=beside.scenario.methods))))
    prices = [
        table[table["method"] == "mean.cwme-cdp"].sort_values("x")["price"].tolist()
        for table in (heavy, beside.table())
    ]
    assert prices[1][0] > 2 * prices[0][0] and prices[1][-1] < prices[0][-1]
    assert max(prices[0]) < 1.25 * min(prices[0])


def said_of(page: AppTest, slug: str) -> list[str]:
    """Return the refusals that name a method."""
    return [i.value for i in page.info if method_card(slug).name in i.value.split("**")[1]]


@pytest.mark.slow
@pytest.mark.folded
def test_logistic_regression_without_data_beats_coordinates_until_clipping_is_near_the_grey() -> (
    None
):
    errors = means("Logistic regression in private")
    scenario = next(p.scenario for p in PRESETS if p.name == "Logistic regression in private")
    start = dict(starting_risks(scenario))[500]
    assert min(errors["sco.cwme"][:3]) > start > errors["sco.cwme"][3]
    for slug in ("sco.clipped", "sco.noisy-gd"):
        assert errors[slug][-1] < 2 * errors["sco.erm"][-1]


@pytest.mark.folded
def test_clipping_decides_who_goes_on_falling() -> None:
    errors = means("Clipping decides")
    # With 60 trials, from n = 10,000 to 50,000: 0.67 and 0.72; the rate 1/sqrt(n) is 0.45.
    for slug in ("sco.noisy-gd", "sco.objective-perturbation"):
        assert errors[slug][-1] > 0.5 * errors[slug][-3]
    assert errors["sco.clipped"][-1] < 0.5 * errors["sco.clipped"][-3]
    assert errors["sco.clipped"][-1] < 0.4 * errors["sco.noisy-gd"][-1]
    assert errors["sco.clipped"][-1] < 2 * errors["sco.erm"][-1]


def test_on_the_hard_convex_loss_no_mean_error_is_below_the_bound_and_the_best_is_near_it() -> None:
    preset = next(p for p in PRESETS if p.name == "The hard convex loss")
    page = press(open_page(), preset.name)
    table = summary(frame(result(page).outcomes))
    for e in evaluate_all(preset.scenario, ["lower.sco.hypercube-cdp"]):
        means = table[table["x"] == e.x]["mean_error"]
        assert e.value < means.min() < 1.5 * e.value
    assert "for this loss on these data" in sentence(page)


@pytest.mark.slow
@pytest.mark.folded
def test_kinks_stop_phased_sgd_and_flatten_noisy_descent_only() -> None:
    errors = means("Non-smooth: absolute")
    assert all(math.isnan(e) for e in errors["sco.phased-sgd"])
    assert errors["sco.noisy-gd"][-1] > 0.5 * errors["sco.noisy-gd"][3]
    assert errors["sco.clipped"][-1] < 0.1 * errors["sco.noisy-gd"][-1]
    assert errors["sco.clipped"][-1] < 2 * errors["sco.erm"][-1]


@pytest.mark.parametrize("tuning", ["practical", pytest.param("theory", marks=pytest.mark.slow)])
@pytest.mark.parametrize("notion", NOTIONS)
def test_every_estimator_alone_is_measured_or_refused_with_a_way_out(
    notion: str, tuning: str
) -> None:
    for slug in methods_for("mean"):
        page = open_page(
            methods=slug, tuning=tuning, grid="500,5000", trials="2", **NOTIONS[notion]
        )
        assert result(page).done
        refused = [o for o in result(page).outcomes if o.not_applicable]
        measured = [o for o in result(page).outcomes if not o.not_applicable]
        if measured:
            assert method_card(slug).name in trace_names(figure(page))
        if refused:
            (reason,) = said_of(page, slug)
            assert reason.startswith(f"**{method_card(slug).name}**: ")
            assert "mean." not in reason
            for _ in range(2):  # one reason may stand behind another
                if any(o.not_applicable for o in result(page).outcomes):
                    page = press(page, "Change that")
            assert not [o for o in result(page).outcomes if o.not_applicable]
            # Gaussian noise gives way to Laplace noise under pure privacy, never the budget.
            large = Scenario(n=1_000_000, delta=0.0, axis=None, grid=())
            pure = notion != "pure" or refusal(large, slug) is None
            there = slug if pure else "mean.cwme-pure"
            assert method_card(there).name in trace_names(figure(page))
        private = method_card(slug).privacy != "none"
        assert private == bool(numbers_in(sentence(page)))


def test_one_reason_for_several_estimators_is_said_once() -> None:
    page = open_page(delta="0", methods="mean.clipped,mean.cwme-cdp,mean.cwme-pure,mean.smoothed")
    (info,) = [i for i in page.info if "Simple clipping" in i.value]
    assert "**Simple clipping · Coordinate-wise, Gaussian · Noise smoothing**" in info.value
    assert "Remark" in next(d.value for d in page.dataframe if "Trials" in d.value)


def test_remarks_that_differ_in_numbers_only_are_said_once() -> None:
    page = open_page(methods="mean.iterative", tuning="theory", grid="5000,20000,50000", trials="1")
    remarks = [c.value for c in page.caption if c.value.startswith("⚠")]
    assert len(remarks) == 1


@pytest.mark.folded
def test_a_whole_user_is_hidden_best_by_the_filter_once_there_are_many_items() -> None:
    errors = means("A whole user hidden")
    filtered, plain = errors["user.accelerated"], errors["user.clipped-means"]
    assert max(plain) < 4 * min(plain)
    assert all(a > b for a, b in zip(filtered[:2], plain[:2], strict=True))
    assert all(a < b for a, b in zip(filtered[3:], plain[3:], strict=True))
    assert filtered[-1] < filtered[-2] < filtered[-3]

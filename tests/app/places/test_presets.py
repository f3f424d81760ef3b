"""Every preset, and every estimator in every notion of privacy, runs to its end."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import plotly.io as pio
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.figure.methods import colour_of, short_names
from dpsco_app.front.answer import IGNORING, answer
from dpsco_app.front.questions.tails import tails_of
from dpsco_app.front.study import Role, Study, chosen_point
from dpsco_app.parts.evaluations import starting_risks
from dpsco_app.parts.options import MEASURES, NO_SET, SYMBOL, TAIL, rounded
from dpsco_app.parts.presets import DEFAULT, PRESETS, Preset
from dpsco_app.session.result import Result
from dpsco_core.catalogue import method_card, methods_for
from dpsco_core.explain.methods.guide import refusal
from dpsco_core.methods.euclidean import PrivateSgd, PrivateSgdAllocated
from dpsco_core.results.report import evaluate_all
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario
from tests.app.pages import (
    address_scenario,
    first_figure,
    headline_text,
    is_stale,
    ladder_numbers,
    open_page,
    press_button,
    shown_result,
    start_preset,
    status_line,
    trace_names,
    written_text,
)

NOTIONS = {"approx": {}, "zcdp": {"rho": "0.1"}, "pure": {"delta": "0"}}


# These presets take long, or resemble one that the quick test keeps; `make test-slow` runs them.
LONG = (
    "Non-smooth: absolute",
    "Logistic regression in private",
    "Gaussian width at work",
    "d is a worst case",
    "Privacy is free",
    "Dimension bites",
    "Theory's constants",
    "Choose the radius for me",
    "Where is the mean?",
    "The hard convex loss",
)
RESULTS: dict[
    str, Result
] = {}  # The results of the presets, by name, so that no test runs a preset again.


@pytest.mark.parametrize(
    "preset",
    [pytest.param(p, marks=[pytest.mark.slow] * (p.name in LONG), id=p.name) for p in PRESETS],
)
def test_the_result_of_a_preset_is_what_the_preset_claims(preset: Preset) -> None:
    page = start_preset(open_page(), preset.name)
    RESULTS[preset.name] = shown_result(page)
    assert address_scenario(page) == shown_result(page).scenario == preset.scenario
    assert shown_result(page).complete and re.match(r"Measured in [\d,]+ runs", status_line(page))
    assert not is_stale(page)
    run = shown_result(page)
    refused = {
        method
        for method in preset.scenario.methods
        if all(o.not_applicable for p in run.parts for o in p.outcomes if o.method == method)
    }
    line_names, names = trace_names(first_figure(page)), short_names(preset.scenario.methods)
    if preset.open == "light":
        assert headline_text(page).endswith("More records cure it at p = 10, not at p = 2.")
        assert not set(names.values()) & set(line_names)
        return
    # Such a preset shows the best private line and its reference; the others need a question.
    if not preset.open:
        rest = set(names.values()) - set(line_names)
        assert len(rest) == len(names) - 2 and rest <= set(ladder_numbers(page))
    for slug in preset.scenario.methods if preset.open else ():
        is_absent = slug in refused or (preset.measure == MEASURES[1] and slug == "mean.sample")
        assert (names[slug] in line_names) == (not is_absent)
        lines = [t for t in first_figure(page)["data"] if t.get("name") == names[slug]]
        hues = {t["line"]["color"] for t in lines if t.get("line", {}).get("width")}
        assert is_absent or hues <= set(colour_of(slug)), (
            "a line without its colour has no name either"
        )
    assert (run.beside is None) == (preset.against == NO_SET)
    assert f"**What to notice**\n{preset.look_for}" in written_text(page)
    expect_one_number(page, preset)


def is_hardest(preset: Preset) -> bool:
    """Whether a preset's data are those of the hardest case."""
    return preset.scenario.distribution == "hypercube"


def expect_one_number(page: AppTest, preset: Preset) -> None:
    """Expect the same number at the chosen point in headline, ladder, figure and table."""
    run = shown_result(page)
    roles: list[Role] = ["own", "tail" if preset.against == TAIL else "hardest"]
    if preset.against not in (TAIL, "hardest"):
        roles[1] = "set"
    parts = [run] if run.beside is None else [run, run.beside]
    if len(parts) == 1 and is_hardest(preset):
        roles[0] = "hardest"
    studies = [
        Study(scenario=part.scenario, outcomes=part.outcomes, role=role)
        for part, role in zip(parts, roles, strict=False)
    ]
    assert headline_text(page) == answer(studies).plain.replace("\xa0", " ")
    chart = pio.from_json(json.dumps(first_figure(page)), skip_invalid=True)
    for i, study_shown in enumerate(studies):
        slug, x = study_shown.lead, chosen_point(study_shown.scenario)
        row = study_shown.row_at(slug, x)
        assert row is not None
        value = row.mean
        if preset.measure == MEASURES[1]:
            assert row.price is not None
            value = row.price.value
        name = short_names(study_shown.scenario.methods)[slug]
        (marked_values,) = [
            y
            for t in chart.data
            if t.name == name and t.error_y.array is not None and t.xaxis == ("x", "x2")[i]
            for a, y in zip(t.x, t.y, strict=True)
            if a == x
        ]
        assert marked_values == pytest.approx(value)
        if preset.measure != MEASURES[1]:
            assert ladder_numbers(page)[name][i] == rounded(value)
    table = next(d.value for d in page.dataframe if "Trials" in d.value)
    rows_at_point = table[table[SYMBOL[str(preset.scenario.axis)]] == chosen_point(preset.scenario)]
    mean = next(c for c in table.columns if c.startswith("Mean"))
    method = method_card(studies[0].lead).name
    value_in_table = rows_at_point.set_index(table.columns[0])[mean][method]
    row = studies[0].row_at(studies[0].lead, chosen_point(preset.scenario))
    assert row is not None and value_in_table == pytest.approx(row.mean, rel=1e-6)


def means(preset_name: str) -> dict[str, list[float]]:
    """Return the mean errors of each method of a preset along its axis, from the stored results if
    there are any.
    """
    preset = next(p for p in PRESETS if p.name == preset_name)
    stored = RESULTS.get(
        preset.name
    )  # A missing result means that only `make test-slow` opens the preset.
    assert stored is None or stored.scenario == preset.scenario
    table = summary(frame(list(study(preset.scenario)) if stored is None else stored.outcomes))
    return {m: list(g.sort_values("x")["mean_error"]) for m, g in table.groupby("method")}


@pytest.mark.folded
def test_under_heavy_tails_fixed_radii_err_two_to_four_times_as_much_as_no_privacy() -> None:
    errors = means("What privacy costs")
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
def test_an_unknown_centre_costs_adaptive_clipping_little_and_a_fixed_radius_much() -> None:
    errors = means("Where is the mean?")
    rises = {slug: values[-1] / values[0] for slug, values in errors.items()}
    assert 0.8 < rises["mean.sample"] < 1.25
    assert rises["mean.adaptive"] < 2
    assert 5 < rises["mean.clipped"] < 7.5 and 15 < rises["mean.cwme-cdp"] < 25


@pytest.mark.folded
def test_the_price_of_simple_clipping_is_small_from_epsilon_2_on() -> None:
    errors = means("Privacy is free")
    assert errors["mean.clipped"][0] > 5 * errors["mean.sample"][0]
    # With 120 trials the ratio is 1.09 at 2 and 1.02 at 5; ten trials leave a tenth of doubt.
    assert max(errors["mean.clipped"][5:]) < 1.2 * errors["mean.sample"][0]
    assert errors["mean.clipped"][-1] < 1.05 * errors["mean.sample"][-1]
    assert errors["mean.cwme-cdp"][-1] < 1.1 * errors["mean.sample"][-1]
    adaptive = zip(errors["mean.adaptive"], errors["mean.sample"], strict=True)
    assert max(a / b for a, b in list(adaptive)[4:]) < 1.2


@pytest.mark.folded
def test_beyond_ten_dimensions_laplace_noise_costs_more_than_gaussian_noise() -> None:
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
    # The error also falls without privacy.
    assert errors["mean.sample"][-1] < 0.5 * errors["mean.sample"][0]
    paid = {
        m: [a / b for a, b in zip(v, errors["mean.sample"], strict=True)] for m, v in errors.items()
    }
    for slug in ("mean.clipped", "mean.cwme-cdp"):
        assert 2 / 3 < paid[slug][-1] / paid[slug][0] < 3 / 2
    assert max(paid["mean.adaptive"]) < 1.4
    assert 1.6 < paid["mean.smoothed"][-1] / paid["mean.smoothed"][0] < 3


@pytest.mark.folded
def test_one_random_step_needs_an_eighth_of_the_noise_and_errs_less_at_a_fiftieth_of_epsilon() -> (
    None
):
    name = "One step a record: an eighth of the noise"
    preset = next(p for p in PRESETS if p.name == name)
    setting = replace(preset.scenario, axis=None, grid=(), epsilon=0.1).setting
    printed, allocated = PrivateSgd().plan(setting), PrivateSgdAllocated().plan(setting)
    over_length = [plan.noise_std / plan.losses.lipschitz for plan in (printed, allocated)]
    assert over_length == pytest.approx([18.2, 2.3], rel=0.01)
    assert over_length[0] / over_length[1] == pytest.approx(8, rel=0.02)
    errors, grid = means(name), list(preset.scenario.grid)
    secret_order, random_step = errors["sco.private-sgd"], errors["sco.private-sgd-allocated"]
    assert random_step[grid.index(0.1)] < secret_order[grid.index(5)]
    assert all(a < b / 2 for a, b in zip(random_step, secret_order, strict=True))


@pytest.mark.folded
def test_more_records_cure_a_light_tail_and_not_a_heavy_one() -> None:
    preset = next(p for p in PRESETS if p.name == "A heavy and a light tail")
    heavy, light = tails_of(preset.scenario)
    points = range(len(preset.scenario.grid))
    for end in (0, 1):
        prices = [heavy.prices(i)[end] for i in points]
        assert max(prices) < 1.2 * min(prices) and min(prices) > 2
    falling = [light.prices(i)[1] for i in points]
    assert falling == sorted(falling, reverse=True) and falling[0] > 2.5 and falling[-1] < 1.1
    assert all(light.prices(i)[0] == 1.0 for i in points)


def refusals_of(page: AppTest, slug: str) -> list[str]:
    """Return the refusals shown on the page that name a method."""
    return [i.value for i in page.info if method_card(slug).name in i.value.split("**")[1]]


@pytest.mark.slow
@pytest.mark.folded
def test_the_answer_without_data_beats_coordinatewise_descent_at_the_smaller_sizes() -> None:
    errors = means("Logistic regression in private")
    scenario = next(p.scenario for p in PRESETS if p.name == "Logistic regression in private")
    start = dict(starting_risks(scenario))[500]
    assert min(errors["sco.cwme"][:3]) > start > errors["sco.cwme"][3]
    for slug in ("sco.clipped", "sco.noisy-gd"):
        assert errors[slug][-1] < 2 * errors["sco.erm"][-1]


@pytest.mark.folded
def test_clipping_decides_which_errors_keep_falling() -> None:
    errors = means("Clipping decides")
    # With 60 trials, the error falls to 0.67 and 0.72 of its value from n = 10,000 to 50,000;
    # 1/sqrt(n) gives 0.45.
    for slug in ("sco.noisy-gd", "sco.objective-perturbation"):
        assert errors[slug][-1] > 0.5 * errors[slug][-3]
    assert errors["sco.clipped"][-1] < 0.5 * errors["sco.clipped"][-3]
    assert errors["sco.clipped"][-1] < 0.4 * errors["sco.noisy-gd"][-1]
    assert errors["sco.clipped"][-1] < 2 * errors["sco.erm"][-1]


def test_on_the_hard_convex_loss_no_mean_error_is_below_the_bound_and_the_best_is_near_it() -> None:
    preset = next(p for p in PRESETS if p.name == "The hard convex loss")
    page = start_preset(open_page(), preset.name)
    table = summary(frame(shown_result(page).outcomes))
    for e in evaluate_all(preset.scenario, ["lower.sco.hypercube-cdp"]):
        means = table[table["x"] == e.x]["mean_error"]
        assert e.value < means.min() < 1.5 * e.value
    assert "on the hardest data known" in headline_text(page) and "(linear loss)" in headline_text(
        page
    )


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
    for slug in methods_for("mean", "item"):
        page = open_page(
            methods=slug, tuning=tuning, grid="500,5000", trials="2", **NOTIONS[notion]
        )
        assert shown_result(page).complete
        refused = [o for o in shown_result(page).outcomes if o.not_applicable]
        measured = [o for o in shown_result(page).outcomes if not o.not_applicable]
        name = short_names((slug,))[slug]
        if measured:
            assert name in trace_names(first_figure(page))
        if refused:
            (reason,) = refusals_of(page, slug)
            assert reason.startswith(f"**{method_card(slug).name}**: ")
            assert "mean." not in reason
            for _ in range(2):  # A second reason may appear once the first is resolved.
                if any(o.not_applicable for o in shown_result(page).outcomes):
                    page = press_button(page, "Change that")
            assert not [o for o in shown_result(page).outcomes if o.not_applicable]
            # Under pure privacy, Laplace noise replaces Gaussian noise, and the budget stays.
            large = Scenario(n=1_000_000, delta=0.0, axis=None, grid=())
            pure = notion != "pure" or refusal(large, slug) is None
            way_out = slug if pure else "mean.cwme-pure"
            assert short_names((way_out,))[way_out] in trace_names(first_figure(page))
        private = method_card(slug).privacy != "none"
        ignoring = tuple(words.capitalize() for _, words in IGNORING.values())
        ignoring += ("No chosen private algorithm beats ignoring the data",)
        assert headline_text(page).startswith(("Error ", *ignoring)) == private
        errors = [o.error for o in shown_result(page).outcomes if o.x == 5000]
        assert not private or tuning == "theory" or sum(errors) / len(errors) < 1


def test_a_reason_shared_by_several_estimators_appears_once() -> None:
    page = open_page(delta="0", methods="mean.clipped,mean.cwme-cdp,mean.cwme-pure,mean.smoothed")
    (info,) = [i for i in page.info if "Simple clipping" in i.value]
    assert "**Simple clipping · Coordinate-wise, Gaussian · Noise smoothing**" in info.value
    assert "Remark" in next(d.value for d in page.dataframe if "Trials" in d.value)


def test_remarks_that_differ_only_in_numbers_appear_once() -> None:
    page = open_page(methods="mean.iterative", tuning="theory", grid="5000,20000,50000", trials="1")
    remarks = [c.value for c in page.caption if c.value.startswith("⚠")]
    assert len(remarks) == 1


@pytest.mark.folded
def test_with_many_items_per_user_the_filter_has_the_smallest_error() -> None:
    errors = means("A whole user hidden")
    filtered, plain = errors["user.accelerated"], errors["user.clipped-means"]
    assert max(plain[1:]) < 4 * min(plain[1:])  # At m = 1 the sample itself has a larger error.
    assert all(a > b for a, b in zip(filtered[:2], plain[:2], strict=True))
    assert all(a < b for a, b in zip(filtered[3:], plain[3:], strict=True))
    assert filtered[-1] < filtered[-2] < filtered[-3]

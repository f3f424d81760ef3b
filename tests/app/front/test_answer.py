"""The answer above the figure: its factors come from the trials, and it never claims too much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from dpsco_app.figure.colours import METHODS
from dpsco_app.figure.panel_box import PanelBox
from dpsco_app.figure.theme import Theme
from dpsco_app.figure.values import Axis
from dpsco_app.front import links
from dpsco_app.front.answer import IGNORING, Answer, answer
from dpsco_app.front.changes import fit_other_fields
from dpsco_app.front.costs import TOO_FEW_TRIALS, cost_words, loose_ends
from dpsco_app.front.figure import front_figure
from dpsco_app.front.headline import AS_WELL, LIMIT, limit_text
from dpsco_app.front.second import companions_of
from dpsco_app.front.study import Role, Study, chosen_point
from dpsco_app.front.titles import NO_BREAK, panel_names, ratio_text
from dpsco_app.front.view import View
from dpsco_app.pages.explore.details import numbers
from dpsco_app.parts.differences import method_names
from dpsco_app.parts.evaluations import hardest, region, without_data
from dpsco_app.parts.options import HARDEST, rounded
from dpsco_app.parts.presets import DEFAULT
from dpsco_core.catalogue import default_methods, method_card, methods_for
from dpsco_core.results.exact import expected_error
from dpsco_core.results.price import Ratio
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario
from tests.app.results import SWEEP, run
from tests.golden_sentences import GOLDEN


def study_of(
    scenario: Scenario, role: Role = "own", outcomes: Sequence[Outcome] | None = None
) -> Study:
    """Return a study of a scenario in a role, with its own outcomes unless others are given."""
    cells_run = run(scenario).outcomes if outcomes is None else outcomes
    return Study(scenario=scenario, outcomes=cells_run, role=role)


def answer_of(*studies: Study) -> Answer:
    """Return the answer of the front page to some studies."""
    return answer(studies)


def small_line(told_answer: Answer) -> str:
    """Return the small print below an answer, as one string."""
    return "".join(text for text, _ in told_answer.small)


def test_the_answer_and_the_table_have_the_factor_of_the_best_private_method() -> None:
    the_answer = answer_of(study_of(SWEEP))
    rows = numbers(run(SWEEP).outcomes, SWEEP).query("n == 10000")
    means = rows.set_index("Estimator")["Mean error"]
    private = means.drop("Sample mean")
    assert private.idxmin() == "Simple clipping"
    price = study_of(SWEEP).row_at("mean.clipped", 10_000).price
    assert price.value == pytest.approx(private.min() / means["Sample mean"])
    low, high = loose_ends(price)
    assert float(low) < price.low and price.high < float(high)
    cost = f"between {low} and {high} times the error"
    assert the_answer.headline[0] == f"Privacy costs {cost} on Student\xa0t data."
    assert the_answer.marks == ((cost, "mean.clipped"),)
    assert ("simple clipping", "mean.clipped") in the_answer.small


def test_a_value_off_the_grid_is_answered_at_the_nearest_point() -> None:
    between_points = replace(SWEEP, n=40_000)
    assert chosen_point(between_points) == 50_000
    assert answer_of(study_of(between_points)) == answer_of(study_of(replace(SWEEP, n=50_000)))


def test_the_answer_names_the_method_with_the_smallest_error_whatever_was_shown_before() -> None:
    study = study_of(SWEEP)
    assert study.lead == "mean.clipped"
    factor = {study.lead: 100.0}
    worse = [replace(o, error=o.error * factor.get(o.method, 1.0)) for o in study.outcomes]
    assert study_of(SWEEP, outcomes=worse).lead == "mean.cwme-cdp"
    public = [o for o in study.outcomes if o.method == "mean.sample"]
    assert study_of(SWEEP, outcomes=public).lead == ""


def test_only_the_hardest_data_show_a_limit_on_every_algorithm() -> None:
    hard = hardest(SWEEP)
    assert hard is not None
    study = study_of(hard, role="hardest")
    the_answer = answer_of(study)
    x = chosen_point(hard)
    floor = next(e.value for at, e in region(hard) if at == x)
    public = study.row_at("mean.sample", x)
    assert public is not None and floor > public.mean
    limit = f"under {limit_text(floor / public.mean)} times"
    promise = f"No private algorithm can promise {limit} for all data, however"
    assert the_answer.headline[1].startswith(promise)
    assert the_answer.headline[0].endswith("on the hardest data known.")
    assert (limit, LIMIT) in the_answer.marks


def test_two_panels_with_methods_of_their_own_name_both_in_their_colours() -> None:
    hard = hardest(SWEEP)
    assert hard is not None
    own_study, hard_study = study_of(SWEEP), study_of(hard, role="hardest")
    factor = {"mean.clipped": 100.0}
    worse = [replace(o, error=o.error * factor.get(o.method, 1.0)) for o in hard_study.outcomes]
    the_answer = answer([own_study, replace(hard_study, outcomes=worse)])
    assert [method for _, method in the_answer.small if method] == ["mean.clipped", "mean.cwme-cdp"]
    assert " on the left and " in small_line(the_answer) and len(the_answer.headline) == 2


def test_five_measured_lines_have_a_name_and_a_colour_and_more_are_grey() -> None:
    six = tuple(m for m in methods_for("mean", "item") if method_card(m).privacy != "pure")[:6]
    study = study_of(Scenario(methods=six, n=500, d=2, trials=2))
    figure = front_figure([study], View(card="others"))
    (panel,) = figure.panels
    lines = [line for line in panel.lines if line.key in six]
    keys_with_sign = {line.key for line in lines if line.symbol}
    assert len(lines) == 6 and len(keys_with_sign) == 5 and study.lead in keys_with_sign
    assert {row.key for row in figure.ladder.rows} & set(six) == keys_with_sign
    (grey,) = [line for line in lines if line.key not in keys_with_sign]
    assert grey.colour == METHODS["grey"]


def test_names_keep_their_capitals_inside_the_line() -> None:
    scenario = replace(SWEEP, methods=("mean.sample", "mean.cwme-pure"), delta=0.0)
    assert "chosen: coordinate-wise, Laplace, against" in small_line(answer_of(study_of(scenario)))


def test_without_private_results_the_answer_says_what_is_missing() -> None:
    assert answer_of(study_of(SWEEP, outcomes=())).headline == ("", "")
    open_ones = replace(SWEEP, methods=("mean.sample", "mean.median-of-means"))
    assert answer_of(study_of(open_ones)).plain == GOLDEN["no private algorithm is chosen"]


def test_the_answer_names_the_only_estimator_that_was_not_refused() -> None:
    scenario = replace(SWEEP, delta=0.0, methods=("mean.clipped", "mean.cwme-pure"))
    assert "coordinate-wise, Laplace" in small_line(answer_of(study_of(scenario)))
    for methods in (("mean.clipped",), ("mean.sample", "mean.clipped")):
        all_refused = replace(SWEEP, delta=0.0, methods=methods)
        assert (
            answer_of(study_of(all_refused)).plain == GOLDEN["no chosen private algorithm can run"]
        )


def test_the_answer_says_where_ignoring_the_data_wins() -> None:
    """At offset 0 the answer without data is right by construction, so it is not compared there."""
    scenario = Scenario(methods=("mean.sample", "mean.clipped"), n=200, epsilon=0.1, trials=3)
    blind = study_of(replace(scenario, offset=0.01))
    the_answer = answer_of(blind)
    assert the_answer.plain.startswith(
        "No chosen private algorithm beats ignoring the data on Student"
    )
    row = blind.row_at("mean.clipped", None)
    assert row is not None
    assert small_line(the_answer).replace(NO_BREAK, " ") == (
        f"Best of the private algorithms chosen: simple clipping, error {rounded(row.mean)}; "
        "ignoring the data, 0.0100 (n = 200, d = 20, ε = 0.1)."
    )
    rows = front_figure([blind], View()).ladder.rows
    assert [row.values[0] for row in rows if row.key == "start"] == ["0.0100"]
    mixed = answer_of(study_of(SWEEP), replace(blind, role="pin"))
    assert mixed.headline[0].endswith(";") and "against the non-private sample mean" in small_line(
        mixed
    )
    assert mixed.headline[1] == GOLDEN["the pinned run is useless"]
    equal = answer_of(blind, replace(blind, role="pin"))
    assert equal.plain.lower().count("ignoring") == 1
    assert "ignoring" not in answer_of(study_of(replace(scenario, offset=0.0))).plain.lower()


def test_the_answer_mentions_an_error_as_large_as_without_data_and_an_unswept_value() -> None:
    scenario = Scenario(methods=("mean.sample", "mean.clipped"), n=2000, trials=3, axis="n")
    study = study_of(replace(scenario, grid=(2000, 4000)))
    row = study.row_at("mean.clipped", 2000)
    assert row is not None
    level = replace(scenario, grid=(2000, 4000), offset=0.8 * row.mean)
    assert answer_of(study_of(level)).headline[1] == AS_WELL["level"] or (
        "beats ignoring the data" in answer_of(study_of(level)).headline[0]
    )
    assert "ignoring" not in answer_of(study_of(SWEEP)).plain.lower()
    assert "outside of the sweep" not in small_line(answer_of(study_of(level)))
    assert small_line(answer_of(study_of(replace(level, n=100)))).endswith(
        " n = 100 is outside of the sweep."
    )
    wide = study_of(replace(level, n=10_000, d=1000, grid=(100, 200)))
    way_out, remark = "but not for the command dpsco run.", small_line(answer_of(wide))
    assert (
        remark.endswith(f" n = 10,000 is too large to run here, {way_out}")
        and "(n\xa0=\xa0200," in remark
    )
    items = replace(
        level, axis="m", grid=(10, 20), m=10**7, methods=default_methods("mean", "user")
    )
    assert small_line(answer_of(study_of(items))).endswith(" m = 10⁷ is too large to run here.")


def test_the_figure_and_the_headline_say_a_factor_in_the_same_numbers() -> None:
    for value, low, high in ((7.0, 4.2, 12.0), (1.3, 1.15, 3.0), (4.0, 1.05, 80.0)):
        price = Ratio(value=value, low=low, high=high)
        ends = loose_ends(price)
        assert ends is not None
        assert cost_words(price, "") == f"between {ends[0]} and {ends[1]} times"
        assert 1 <= float(ends[0]) <= low and high <= float(ends[1])
    assert loose_ends(Ratio(value=0.4, low=0.1, high=0.8)) is None
    assert cost_words(Ratio(value=150.0, low=20.0, high=900.0), "") == "between 20 and 900 times"
    assert cost_words(Ratio(value=500.0, low=200.0, high=900.0), "") == "more than 100 times"


def test_a_panel_keeps_its_name_when_it_is_shown_alone() -> None:
    hard = hardest(SWEEP)
    names = panel_names(SWEEP, hard, "hardest")
    assert names == {"both": "Side by side", "first": "Student t", "second": "Hardest data"}
    tails = panel_names(SWEEP, replace(SWEEP, p=20.0), "tail")
    assert (tails["first"], tails["second"]) == (f"p = {SWEEP.p:g}", "p = 20")
    assert panel_names(SWEEP, None, "own")["second"] == "Hardest data"


def test_two_panels_with_the_same_verdict_state_it_once() -> None:
    scenario = Scenario(methods=("mean.sample", "mean.clipped"), n=2000, trials=2, epsilon=0.2)
    blind = without_data(scenario)
    outcomes = tuple(
        o if o.method == "mean.sample" else replace(o, error=blind * (1 + 0.1 * o.trial))
        for o in run(scenario).outcomes
    )
    level = study_of(scenario, outcomes=outcomes)
    equal = answer_of(level, replace(level, role="pin")).plain
    assert equal == GOLDEN["both runs are useless"]
    hard = answer_of(level, replace(level, role="hardest")).plain
    assert hard == GOLDEN["both data sets are useless"]
    mixed = answer_of(study_of(SWEEP), replace(level, role="pin")).plain
    assert mixed.endswith("in the pinned run ignoring the data does as well")


def test_in_the_hardest_case_the_price_is_over_the_exact_error_without_privacy() -> None:
    scenario = replace(
        SWEEP, methods=("mean.sample", "mean.adaptive"), trials=10, grid=(2000, 10_000)
    )
    hard = hardest(scenario)
    assert hard is not None
    studies = study_of(scenario), study_of(hard, "hardest")
    errors = [o.error for o in studies[1].outcomes if (o.method, o.x) == ("mean.adaptive", 10_000)]
    exact = expected_error(hard.at(10_000), "mean.sample")
    assert exact is not None
    times = ratio_text(sum(errors) / len(errors) / exact)
    own_clause, hard_clause = answer_of(*studies).headline
    assert own_clause.endswith(" on Student\N{NO-BREAK SPACE}t data;")
    assert hard_clause == f"on the hardest data known {times} times, as bad as ignoring the data"
    figure = front_figure(studies, View())
    gap = figure.panels[1].gap
    assert gap is not None and gap.text == f"×{times}"
    (row,) = (row for row in figure.ladder.rows if row.key == "mean.sample")
    assert row.values[1] == rounded(exact)


def test_the_answer_says_when_the_hardest_data_have_the_smaller_error() -> None:
    scenario = replace(SWEEP, methods=("mean.sample", "mean.adaptive"), p=4, n=500, grid=(500,))
    for epsilon, easier in ((0.2, False), (5.0, True)):
        at_epsilon = replace(scenario, epsilon=epsilon)
        hard = hardest(at_epsilon)
        assert hard is not None
        studies = study_of(at_epsilon), study_of(hard, "hardest")
        own_row, hard_row = (study.row_at("mean.adaptive", 500) for study in studies)
        assert own_row is not None and hard_row is not None
        assert (hard_row.mean < own_row.mean) is easier
        assert ("on the hardest data known for privacy" in answer_of(*studies).plain) is easier


def test_the_answer_states_a_cost_with_the_certainty_of_the_trials() -> None:
    open_one = Ratio(value=1.4, low=0.6, high=2.9)
    assert open_one.within_noise
    assert cost_words(open_one, "") == "at most 2.9 times"
    assert cost_words(replace(open_one, high=2.9001), "") == "at most 2.9 times"
    assert cost_words(replace(open_one, high=800.0), "") == TOO_FEW_TRIALS
    # An upper end alone would say that a line that is measured below the other is above it.
    range_text = "between 0.6 and 2.9 times the error"
    assert cost_words(replace(open_one, value=0.9), "error") == range_text
    narrow = Ratio(value=1.12, low=0.96, high=1.3)
    assert narrow.within_noise
    assert cost_words(narrow, "error") == "about 1.1 times the error"
    for same in (replace(narrow, value=0.97), Ratio(value=1.02, low=1.001, high=1.04)):
        assert cost_words(same, "excess risk") == "about the same excess risk"
    assert cost_words(Ratio(value=0.7, low=0.6, high=0.9), "error") == "less error"
    one_trial = Ratio(value=0.99, low=math.nan, high=math.nan)
    assert cost_words(one_trial, "error") == "about the same error"
    assert cost_words(replace(one_trial, value=0.7), "error") == "less error"


def test_an_error_below_that_without_privacy_names_the_method_it_is_compared_with() -> None:
    study = study_of(SWEEP)
    better = [
        o if o.method == "mean.sample" else replace(o, error=o.error / 9) for o in study.outcomes
    ]
    the_answer = answer_of(study_of(SWEEP, outcomes=better), replace(study, role="pin"))
    assert the_answer.headline[0] == GOLDEN["a gain over the sample mean"]
    # The comparison is with another method, so the answer names its error again.
    assert "times the error" in the_answer.headline[1]
    assert "against the non-private sample mean (" in small_line(the_answer)
    assert "the sample mean clips nothing, so that a few far records move it." in small_line(
        the_answer
    )
    assert "Choose the median of means, too" in small_line(the_answer)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 20.0])
@pytest.mark.parametrize("p", [2.0, 3.5])
@pytest.mark.parametrize("n", [500, 2000, 10_000])
def test_the_answer_states_a_cost_only_where_the_private_method_beats_an_answer_without_data(
    n: int, p: float, epsilon: float
) -> None:
    """The headline and the figure agree; where the method is not better, they say only that."""
    methods = ("mean.sample", "mean.clipped", "mean.adaptive")
    scenario = Scenario(n=n, p=p, epsilon=epsilon, methods=methods, trials=5)
    hard = hardest(scenario)
    assert hard is not None
    studies = study_of(scenario), study_of(hard, "hardest")
    headline = answer_of(*studies).plain
    figure = front_figure(studies, View())
    lines = answer_of(*studies).headline
    lines = lines if not headline.startswith("On both data sets,") else (headline, headline)
    for study, panel, line in zip(studies, figure.panels, lines, strict=True):
        start = without_data(study.scenario)
        private = (study.row_at(m, None) for m in methods[1:])
        best = min((row for row in private if row is not None), key=lambda row: row.mean)
        better = best.mean < 0.95 * start
        is_ignored = any(words in line.lower() for words in IGNORING["level"] + IGNORING["worse"])
        assert is_ignored is not better
        assert ("does better" in line or "worse" in line) is (best.mean - best.half > start > 0)
        assert panel.gap is not None or not better
        # The headline gives a price beside that verdict only if the figure shows the same single
        # number.
        assert not ("times" in line and is_ignored) or panel.gap is not None
    is_useless = all(study.useless(chosen_point(study.scenario)) for study in studies)
    assert ("ignoring the data, " in small_line(answer_of(*studies))) is is_useless


@pytest.mark.parametrize("change", [{}, {"p": 3.0}, {"p": 8.0}, {"epsilon": 5.0}])
def test_the_proven_price_is_larger_in_the_hardest_case_than_on_the_chosen_data(
    change: dict[str, Any],
) -> None:
    """The hardest case uses its exact error without privacy, the chosen data their measured
    error.
    """
    scenario = replace(SWEEP, methods=("mean.sample", "mean.adaptive"), trials=10, **change)
    hard, n = companions_of(scenario, HARDEST, "").second_scenario, chosen_point(scenario)
    assert hard is not None
    exact = expected_error(hard.at(n), "mean.sample")
    reference = study_of(replace(scenario, grid=(n,))).row_at("mean.sample", n)
    assert exact is not None and reference is not None
    prices = [dict(region(scenario))[n].value / reference.mean, dict(region(hard))[n].value / exact]
    assert prices[1] > max(1.0, prices[0])


def test_a_line_that_ends_inside_the_axis_is_not_extended_to_the_edge() -> None:
    (panel,) = front_figure([study_of(SWEEP)], View()).panels
    place = PanelBox(panel, Axis(title="", low=1e-3, high=1, ticks=()), 0, 1, Theme())
    x, y = [float(x) for x in SWEEP.grid], [0.5 / i for i in range(1, len(SWEEP.grid) + 1)]
    whole, part = place.extended(x, y)[0], place.extended(x[1:-1], y[1:-1])[0]
    assert whole[0] < x[0] and whole[-1] > x[-1]
    assert (part[0], part[-1]) == (x[1], x[-2])


def test_there_is_no_verdict_before_all_runs_of_the_chosen_point_have_finished() -> None:
    whole = study_of(SWEEP)
    rest = [o for o in whole.outcomes if o.x != 10_000]
    half = [o for o in whole.outcomes if o.x == 10_000][:-1]
    for outcomes in (half, rest + half):
        part = study_of(SWEEP, outcomes=outcomes)
        assert answer_of(part).headline == answer_of(whole, part).headline == ("", "")
        assert front_figure([part], View()).panels[0].gap is None
        (lead,) = [r for r in front_figure([part], View()).ruler.rungs if r.bold] or [None]
        assert lead is None or not lead.text
    present = [o for o in whole.outcomes if o.x == 10_000]
    assert answer_of(study_of(SWEEP, outcomes=present)).headline[0] == answer_of(whole).headline[0]


@pytest.mark.parametrize("value", [0.534, 0.97, 1.04, 9.94, 12.3, 1234.0])
def test_a_ratio_is_written_with_two_digits(value: float) -> None:
    text = ratio_text(value)
    assert len(text.replace(",", "").replace(".", "").rstrip("0") or "0") <= 2
    assert float(text.replace(",", "")) == pytest.approx(value, rel=0.07)


def test_a_comma_in_a_method_name_does_not_split_it_in_two() -> None:
    """Of three methods, two have a comma in their names; the list has three entries."""
    slugs = ("mean.clipped", "mean.cwme-cdp", "mean.cwme-pure")
    assert method_names(slugs).split("; ") == [method_card(slug).name for slug in slugs]
    assert method_names(("mean.sample", "mean.clipped")) == "Sample mean, Simple clipping"


def moved_slider(scenario: Scenario, **change: float) -> Scenario:
    """Return a scenario as it is after the visitor has moved a slider."""
    return fit_other_fields(replace(scenario, **change), *change)[0]  # type: ignore[arg-type]


def test_a_default_sweep_extends_to_the_chosen_value_and_shrinks_back() -> None:
    """A sweep that the visitor typed is kept, and the default does not extend to a value that
    cannot run.
    """
    usual = DEFAULT.scenario.grid
    at_100 = moved_slider(DEFAULT.scenario, n=100)
    assert at_100.grid == (100, *usual) and chosen_point(at_100) == 100
    assert moved_slider(at_100, n=200).grid == (200, *usual)
    assert moved_slider(at_100, n=1000).grid == usual
    assert links.read({"n": "100"})[0].grid == (100, *usual)
    typed = moved_slider(replace(DEFAULT.scenario, grid=(500, 1000)), n=100)
    assert typed.grid == (500, 1000)
    with_3000 = replace(DEFAULT.scenario, grid=tuple(sorted((*usual, 3000))))
    assert moved_slider(with_3000, n=200).grid == with_3000.grid
    assert links.read({"n": "1000000"})[0].grid == usual
    assert moved_slider(DEFAULT.scenario, epsilon=0.01).grid == usual

"""No measured private line runs through the region that no private algorithm can reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from dpsco_app.figure.values import Panel
from dpsco_app.front.bound_lines import bound_by, short_name
from dpsco_app.front.figure import front_figure
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.parts.evaluations import drawn_window, hardest, region, starting_risks
from dpsco_app.parts.options import ranged, rounded
from dpsco_app.parts.presets import PRESETS, Preset
from dpsco_app.parts.shown_bounds import fano
from dpsco_core.catalogue import BOUND_SLUGS, bound, default_methods, method_card
from dpsco_core.runs.study import Outcome, study
from dpsco_core.scenario import Scenario
from tests.folded import one_in

LAWS = ("student-t", "elliptical-t", "gaussian", "pareto", "log-normal")


def random_scenario(seed: int) -> Scenario:
    """Return a scenario with random problem, law, sizes and budget."""
    rng = np.random.default_rng(seed)
    problem = str(rng.choice(["mean", "quadratic", "linear"]))
    epsilon = float(rng.choice([0.2, 0.5, 1, 2, 5]))
    budget = [{}, {"delta": 0.0}, {"epsilon": None, "delta": None, "rho": epsilon**2 / 8}]
    scenario = Scenario(
        problem=problem,
        distribution=str(rng.choice(LAWS)),
        methods=default_methods(problem),
        p=float(rng.choice([2, 2.5, 3, 4, 8])),
        d=int(rng.choice([1, 2, 5, 20])),
        n=int(rng.choice([500, 2000, 10_000])),
        epsilon=epsilon,
        offset=float(rng.choice([0.5, 1.0])),
        axis="n",
        grid=(500, 2000, 10_000),
        trials=5,
        seed=seed,
    )
    return replace(scenario, **budget[seed % 3])


def crossings(scenario: Scenario, outcomes: Sequence[Outcome] | None = None) -> list[str]:
    """Return a line of text for each point where a private method's mean error is below the
    region's edge by more than its noise.
    """
    measured = list(study(scenario)) if outcomes is None else outcomes
    study_of_one, edge = Study(scenario=scenario, outcomes=measured), dict(region(scenario))
    return [
        f"{method} at {row.x}: {row.mean:.3g} ± {row.half:.2g} below {edge[row.x].value:.3g}"
        for method in scenario.methods
        if method_card(method).privacy != "none"
        for row in study_of_one.rows(method)
        if row.x in edge and row.mean + 2 * row.half < edge[row.x].value
    ]


@pytest.mark.parametrize("seed", one_in(3, range(40)))
def test_no_private_line_runs_through_the_region_called_impossible(seed: int) -> None:
    scenario = random_scenario(seed)
    hard = hardest(scenario)
    scenarios = [scenario, *([hard] if hard is not None else [])]
    assert [line for one in scenarios for line in crossings(one)] == []


def test_a_line_below_the_region_of_a_random_scenario_is_detected() -> None:
    with_region = [s for s in map(random_scenario, range(40)) if region(s)]
    assert len(with_region) >= 15
    scenario = Scenario(methods=("mean.clipped",), axis="n", grid=(500, 2000), trials=3, n=500)
    measured = list(study(scenario))
    edge = dict(region(scenario))
    low = [
        replace(o, error=edge[o.x].value / 2 + 1e-6 * o.trial) for o in measured if o.x is not None
    ]
    assert len(crossings(scenario, low)) == 2


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.name)
def test_no_floor_of_a_preset_is_above_the_answer_without_data(preset: Preset) -> None:
    hard = hardest(preset.scenario)
    compared = 0
    for scenario in [preset.scenario, *([hard] if hard is not None else [])]:
        start = dict(starting_risks(scenario))
        for x, edge in region(scenario):
            assert edge.value <= start[x] * (1 + 1e-9)
            compared += 1
    assert compared or not region(preset.scenario)


def test_the_ladder_lists_the_window_of_each_panel_if_they_differ() -> None:
    """Each panel draws its own window: at p = 20 that of the hard instance reaches further down."""
    mean = Scenario(axis="n", grid=(1000, 10_000), n=10_000)
    losses = ("quadratic", "linear")  # Each of these losses has a hardest case of its own.
    cases = [mean, replace(mean, p=20.0), replace(mean, p=2.0, rho=0.5, epsilon=None, delta=None)]
    cases += [replace(mean, problem=loss, methods=()) for loss in losses]
    kinds = set()
    for scenario in cases:
        hard = hardest(scenario)
        assert hard is not None
        panels = [Study(scenario=scenario), Study(scenario=hard, role="hardest")]
        figure = front_figure(panels, View())
        texts = []
        for panel in figure.panels:
            areas = [area for area in panel.regions if area.key == "window"]
            ends = [(a.lower[-1], a.upper[-1]) for a in areas]
            texts.append(ranged(*ends[0]) if ends else "none")
        left, right = next(row.values for row in figure.ladder.rows if row.key == "window")
        assert right == texts[1] != "none"
        assert left == ("" if texts[0] == texts[1] else texts[0])
        kinds.add("" if left == "" else "another")
    assert kinds == {"", "another"}


def test_the_window_of_light_tails_is_the_same_in_the_figure_and_in_the_table() -> None:
    scenario = Scenario(p=20.0, axis="n", grid=(1000, 10_000), n=10_000)
    hard = hardest(scenario)
    assert hard is not None
    panels = [Study(scenario=scenario), Study(scenario=hard, role="hardest")]
    rows = front_figure(panels, View()).ladder.rows
    left, right = next(row.values for row in rows if row.key == "window")
    assert (left, right) == ("0.035–0.053", "0.0041–0.053")


def test_no_window_is_drawn_if_its_bounds_are_about_other_data() -> None:
    """The cases are unequal scales and a loss without proven bounds; words replace the window."""
    methods = ("mean.sample", "mean.clipped")
    equal = Study(scenario=Scenario(methods=methods, n=5000))

    def left_panel(scenario: Scenario) -> Panel:
        """Return the left one of a figure's two panels, since a single panel shows no bounds on all
        data.
        """
        pair = [Study(scenario=scenario), Study(scenario=scenario, role="pin")]
        return front_figure(pair, View()).panels[0]

    assert left_panel(equal.scenario).regions[-1].key == "window"
    unequal = replace(equal.scenario, decay=1.0)
    squares = Scenario(problem="least-squares", methods=("sco.erm", "sco.clipped"))
    for problem_case, reason in ((unequal, "equal scale"), (squares, "other losses")):
        panel = left_panel(problem_case)
        assert "window" not in [r.key for r in panel.regions]
        assert reason in " ".join(line for words in panel.words for line in words.lines)
        worst = [line.y[0] for line in panel.lines if line.key == fano(problem_case)]
        assert all(y <= dict(region(problem_case))[None].value for y in worst)


@pytest.mark.parametrize(
    ("budget", "name"),
    [
        ({}, "CDP Fano"),
        ({"epsilon": None, "delta": None, "rho": 0.1}, "CDP Fano"),
        ({"delta": 0.0}, "Pure-DP Fano"),
    ],
)
@pytest.mark.parametrize("problem", ["mean", "quadratic"])
def test_fano_s_line_is_the_bound_on_the_algorithms_of_the_budget(
    problem: str, budget: dict[str, float | None], name: str
) -> None:
    scenario = Scenario(problem=problem, p=2.0, **budget)  # type: ignore[arg-type]
    # On the chosen data the proven floor is below the worst case, which is about other data.
    if scenario.delta != 0:
        (panel,) = front_figure([Study(scenario=scenario)], View()).panels
        assert fano(scenario) not in [line.key for line in panel.lines]
        hard = hardest(scenario)
        assert hard is not None
        scenario = hard
    rest, proof = (
        front_figure([Study(scenario=scenario, role="hardest")], View(card=card))
        for card in ("", "proof")
    )
    assert fano(scenario) not in [line.key for line in rest.panels[0].lines]
    assert fano(scenario) in [row.key for row in rest.ladder.rows]
    (line,) = [line for line in proof.panels[0].lines if line.key == fano(scenario)]
    pure = scenario.delta == 0
    assert (line.name, bound(line.key).card.privacy) == (name, "pure" if pure else "zcdp")


def test_the_row_for_the_error_without_data_names_the_data() -> None:
    study = Study(scenario=Scenario(methods=("mean.sample", "mean.clipped"), n=5000))
    hard = hardest(study.scenario)
    assert hard is not None
    panels = [study, Study(scenario=hard, role="hardest")]
    ladder = front_figure(panels, View()).ladder
    (row,) = [row for row in ladder.rows if row.key == "start"]
    assert (ladder.columns, row.name) == (["Student t", "hardest"], "answer without data")
    assert row.values == [rounded(starting_risks(one.scenario)[0][1]) for one in panels]
    assert len(set(row.values)) == 2 and "on the data of the column" in row.note
    (priced,) = front_figure([study], View(measure="price")).ladder.rows
    assert (priced.name, priced.values, priced.note) == ("without privacy", ["1.0"], "")


def test_a_floor_from_sampling_alone_is_described_as_binding_every_algorithm() -> None:
    """Such a floor is the same without privacy, to a hundredth; a larger private one binds private
    algorithms.
    """
    usual = Scenario(axis="n", grid=(500, 10_000), n=10_000)
    for scenario, binding, words in (
        (usual, "sampling", "No private algorithm"),
        (replace(usual, n=500), "private", "can promise an error in here"),
        (replace(usual, grid=(10_000,)), "sampling", "No algorithm, private or not,"),
        (replace(usual, epsilon=0.05), "private", "No private algorithm"),
        (replace(usual, n=500, rho=0.5), "zCDP", "No zCDP algorithm"),
    ):
        figure = front_figure([Study(scenario=scenario)], View())
        (area,) = [r for r in figure.panels[0].regions if r.key == "floor"]
        index = scenario.grid.index(scenario.n)
        without_privacy = region(replace(scenario, rho=None, epsilon=1e6))[index][1].value
        assert area.name == "proven limit"
        assert bound_by(scenario, region(scenario)[index][1]) == binding
        assert (area.upper[index] < 1.01 * without_privacy) is (binding == "sampling")
        assert f"<b>{words}</b>" in [x for one in figure.panels[0].words for x in one.lines]
    hard = hardest(usual)
    assert hard is not None
    panels = [Study(scenario=usual), Study(scenario=hard, role="hardest")]
    rows = {row.key: row.values for row in front_figure(panels, View()).ladder.rows}
    floor_here, hardest_floor = map(float, rows["floor"])
    assert floor_here < hardest_floor


def test_the_window_is_described_by_the_worst_data_and_by_its_panel() -> None:
    study = Study(scenario=Scenario(methods=("mean.sample", "mean.clipped"), n=5000))
    hard = hardest(study.scenario)
    assert hard is not None
    pair = study, Study(scenario=hard, role="hardest")
    for index, easier in ((0, True), (1, False)):
        panel = front_figure((pair[index], pair[1 - index]), View()).panels[0]
        (words,) = [w.lines for w in panel.words if "The band" in w.lines[0]]
        assert len(words) <= 3 and "for all data" in words[1] and "unbeatable" not in str(words)
        assert ("These may be easier." in words) is easier


def test_a_mean_above_its_proven_bound_lies_within_the_error_of_the_trials() -> None:
    scenario = Scenario(methods=("mean.sample",), n=5000, trials=5)
    outcomes = list(study(scenario))
    line = front_figure([Study(scenario=scenario, outcomes=outcomes)], View()).panels[0].lines[-1]
    (_, proven), (mean,) = line.bound[0], line.y
    spread = [replace(o, error=o.error * proven / mean * 1.01) for o in outcomes]
    clear = [replace(o, error=o.error * proven / mean * 0.99) for o in outcomes]
    for trials, is_within in ((spread, True), (clear, False)):
        (panel,) = front_figure([Study(scenario=scenario, outcomes=trials)], View()).panels
        assert ("within the trials’ error" in panel.lines[-1].hover[0]) is is_within


def test_the_hover_text_says_that_a_floor_is_mostly_sampling() -> None:
    for n, epsilon, is_mostly_sampling in ((500, 1.0, True), (500, 0.05, False)):
        scenario = Scenario(n=n, epsilon=epsilon)
        (panel,) = front_figure([Study(scenario=scenario)], View()).panels
        (area,) = [r for r in panel.regions if r.key == "floor"]
        assert ("mostly sampling error" in area.hover[0]) is is_mostly_sampling


def test_beside_a_pinned_run_the_floor_is_a_line_since_it_binds_only_the_present_run() -> None:
    scenario = Scenario(methods=("mean.sample", "mean.clipped"), n=2000, trials=1, epsilon=0.01)
    pinned = Study(scenario=replace(scenario, epsilon=1.0))
    plain, with_pin = (Study(scenario=scenario, overlay=one) for one in (None, pinned))
    (plain_panel,) = front_figure((plain,), View()).panels
    (panel,) = front_figure((with_pin,), View()).panels
    region = next(r for r in plain_panel.regions if r.key == "floor")
    (edge,) = (line for line in panel.lines if line.key == "floor")
    assert list(edge.y) == list(region.upper)
    assert "floor" not in {r.key for r in panel.regions}
    words_drawn = [line for words in plain_panel.words for line in words.lines]
    assert "<b>No private algorithm</b>" in words_drawn
    assert panel.words == []  # No words label an impossible region.


@pytest.mark.parametrize("p", [2.0, 2.5, 3.0, 4.0, 8.0, 20.0])
def test_the_window_of_the_hardest_data_ends_at_the_bound_proven_for_them(p: float) -> None:
    for n, epsilon in ((1000, 1.0), (10_000, 0.2), (10_000, 1.0)):
        hard = hardest(Scenario(p=p, n=n, epsilon=epsilon, axis=None, grid=()))
        assert hard is not None
        ((x, span),), ((_, proven),) = drawn_window(hard), region(hard)
        assert x is None and span.lower is proven.bound
        assert span.low == min(proven.value, span.high)
        assert proven.bound.card.instance == hard.distribution


@pytest.mark.parametrize("d", [20, 200, 1000])
def test_the_window_of_the_hardest_data_holds_their_floor_where_their_mean_is_far_out(
    d: int,
) -> None:
    """The mean of these instances is farther from 0 than that of the data beside them."""
    methods = ("sco.erm", "sco.clipped")
    scenario = Scenario(problem="linear", methods=methods, p=2.0, n=500, d=d, offset=0.1, axis=None)
    hard = hardest(replace(scenario, grid=()))
    assert hard is not None
    ((_, span),), ((_, proven),), ((_, start),) = (
        drawn_window(hard),
        region(hard),
        starting_risks(hard),
    )
    assert span.ignores_data and span.low == proven.value < span.high
    assert span.high == pytest.approx(start, rel=1e-12)


@pytest.mark.parametrize("p", [3.0, 20.0])
def test_no_private_error_on_the_hardest_data_is_below_their_window(p: float) -> None:
    hard = hardest(Scenario(p=p, n=10_000, axis=None, grid=(), trials=12))
    assert hard is not None
    ((_, span),) = drawn_window(hard)
    for method in hard.methods:
        if method_card(method).privacy == "none":
            continue
        errors = [o.error for o in study(replace(hard, methods=(method,))) if not o.not_applicable]
        noise = np.std(errors, ddof=1) / np.sqrt(len(errors))
        assert np.mean(errors) >= span.low - 5 * noise, method


def test_every_fano_bound_is_called_fano_in_a_figure() -> None:
    """This includes bounds on corners and blocks and for the squared error, whose names differ
    most.
    """
    names = {short_name(bound(slug).card) for slug in BOUND_SLUGS if bound(slug).card.is_fano}
    assert names == {"CDP Fano", "Pure-DP Fano"}

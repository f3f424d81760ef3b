"""Stories of methods: one for each, with complete formulas, a running example and right counts."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import METHOD_SLUGS, METHODS, make_method, method_card, method_class
from dpsco_core.cli.main import main
from dpsco_core.explain.methods.guide import Fit, advice, comparison_point, fitting
from dpsco_core.explain.methods.source import handed_on, plan_source, release_source
from dpsco_core.explain.methods.stories import example, example_point, story
from dpsco_core.explain.methods.work import work
from dpsco_core.methods.access import ALL_RECORDS
from dpsco_core.methods.descent import DescentPlan
from dpsco_core.methods.story import Story
from dpsco_core.runs.cost import release_seconds, too_large
from dpsco_core.runs.study import Outcome, cells, method_setting, run_cell
from dpsco_core.scenario import Scenario
from dpsco_core.words.stories import read_story
from tests.folded import each

QUICK = 0.1  # The time of a run on the reference machine, in seconds.
CHEAP = tuple(s for s in METHOD_SLUGS if release_seconds(example_point(s), s) <= QUICK)
DEAR = tuple(s for s in METHOD_SLUGS if s not in CHEAP)


def run_example(slug: str) -> Outcome:
    """Run the example of a method's story; return its outcome."""
    (cell,) = cells(example_point(slug))
    return run_cell(cell)


def unbalanced(text: str) -> str:
    """Return the fault in the formulas of a text, or "" if there is none."""
    if text.count("$") % 2:
        return "an odd number of dollars"
    for formula in re.findall(r"\$([^$]*)\$", text):
        depth = 0
        for bracket in re.findall(r"(?<!\\)[{}]", formula):
            depth += 1 if bracket == "{" else -1
            if depth < 0:
                return f"a closing brace too many in {formula}"
        left_side, right = (
            len(re.findall(rf"\\{side}(?!a)", formula)) for side in ("left", "right")
        )
        if depth or left_side != right:
            return f"an open bracket in {formula}"
    plain = re.sub(r"\$[^$]*\$", "", text)
    return f"a command outside a formula: {text}" if "\\" in plain else ""


def texts(tale: Story) -> tuple[str, ...]:
    """Return all sentences of a story."""
    proof = [] if tale.privacy is None else [text for _, text in tale.privacy.steps]
    text_groups = (tale.steps, tale.assumptions, proof, tale.pitfalls, tale.errata)
    single = (tale.what, f"${tale.order}$", tale.cost, tale.when)
    return (*single, *(text for group in text_groups for text in group))


def test_every_method_has_a_story_that_agrees_with_its_card() -> None:
    for kind in METHODS:
        slug = kind.card.slug
        tale = kind.story or read_story(slug)
        assert tale is not None, f"give {slug} a `story`, as CONTRIBUTING.md prints it"
        assert (kind.story is None) == (read_story(slug) is not None), f"{slug} has two stories"
        same = (tale.privacy is None) == (kind.card.privacy == "none")
        assert same, f"the story of {slug} must have a Proof, or None if its card is not private"
    with pytest.raises(InvalidInput, match="method must be"):
        story("sco.unknown")


@each("slug", METHOD_SLUGS)
def test_a_story_is_complete(slug: str) -> None:
    tale = story(slug)
    assert [unbalanced(text) for text in texts(tale) if unbalanced(text)] == []
    assert all(text.strip() and text.rstrip()[-1] in ".:)$" for text in texts(tale))
    assert len(re.findall(r"[.:](?: |$)", tale.what)) >= 3, "three sentences"
    assert tale.steps and tale.assumptions and tale.pitfalls and tale.when and tale.cost


@pytest.mark.parametrize(
    "text", ["$x", r"$\frac{1}{2$", r"$a}{$", r"\rho is outside", r"$\left(x)$"]
)
def test_a_broken_formula_is_detected(text: str) -> None:
    assert unbalanced(text)


@pytest.mark.parametrize("slug", METHOD_SLUGS)
def test_the_dashboard_allows_the_example_and_the_method_plans_it(slug: str) -> None:
    scenario = example(slug)
    assert slug in scenario.validate(DASHBOARD).methods
    assert not too_large(scenario, DASHBOARD)
    for _, point in scenario.points():
        make_method(slug, point.calibration, point.tuning).plan(method_setting(point, slug))


def check_run(slug: str) -> None:
    """Assert that a method's run agrees with its story and with the predicted work."""
    outcome, expected = run_example(slug), work(example_point(slug), slug)
    assert outcome.not_applicable is None and outcome.error >= 0
    assert (outcome.spent is None) == (story(slug).privacy is None)
    counted = outcome.diagnostics.get("gradient_calls")
    if counted is not None:
        assert expected.gradients is not None
        same = counted <= expected.gradients if expected.at_most else counted == expected.gradients
        assert same


@pytest.mark.parametrize("slug", CHEAP)
def test_the_example_runs_and_uses_the_stated_number_of_gradients(slug: str) -> None:
    check_run(slug)


@pytest.mark.slow
@pytest.mark.parametrize("slug", DEAR)
def test_the_slow_examples_run_too(slug: str) -> None:
    check_run(slug)


def test_the_example_of_a_shuffled_method_shuffles() -> None:
    assert run_example("lp.shuffled-mirror-descent").diagnostics["shuffled"] == 1


def test_steps_on_disjoint_blocks_use_every_gradient_once() -> None:
    point = example_point("sco.cwme-strong")
    plan = make_method("sco.cwme-strong", "tight", "practical").plan(point.setting)
    assert isinstance(plan, DescentPlan) and plan.descent.steps > 1
    assert plan.gradients <= point.n < replace(plan, access=ALL_RECORDS).gradients


@each("slug", METHOD_SLUGS)
def test_the_displayed_code_draws_noise_through_the_ledger(slug: str) -> None:
    parts = release_source(slug)
    text = "\n".join(part.text for part in parts)
    assert parts[0].text.startswith("def release(")
    calls = r"(ledger|block)\.\w+\(|open_releases\(|\.open\(ledger|release_mean\("
    calls += r"|\.(release|with_noise)\(.*, ledger, rng\)"
    match = re.search(calls, text)
    assert bool(match) == (story(slug).privacy is not None)
    assert plan_source(slug).text.startswith("def plan(")
    handed = handed_on(method_class(slug).release)
    titles = [part.title for part in parts[1 : len(handed) + 1]]
    assert titles == [function.__name__ for function in handed]
    assert all(f"def {function.__name__}(" in text for function in handed)


def test_the_displayed_code_continues_where_release_delegates() -> None:
    titles = [part.title for part in release_source("mean.clipped")]
    assert titles[:2] == ["Averaging.release", "into_ball"]
    assert titles[2:5] == ["ClippedMean.value", "clipped_mean", "clipped_sum"]
    titles = [part.title for part in release_source("sco.clipped")]
    assert titles[0] == "Descending.release"
    assert titles[1:4] == ["ClippedMean.value", "clipped_mean", "clipped_sum"]


def fits(problem: str, **values: Any) -> dict[str, Fit]:
    """Return how each method fits a scenario, by slug."""
    scenario = Scenario(problem=problem, methods=("mean.sample",), n=2000, d=5, **values)
    return {fit.slug: fit for fit in fitting(comparison_point(scenario))}


def test_the_guide_agrees_with_the_plans() -> None:
    pure = [f for f in fits("mean", delta=0.0).values() if f.runs]
    private = {f.slug for f in pure if method_card(f.slug).privacy != "none"}
    assert private == {"mean.cwme-pure", "mean.adaptive"}
    kinks = fits("hinge")
    assert "kinks" in kinks["sco.phased-sgd"].refusal
    assert kinks["sco.clipped"].runs and kinks["sco.clipped"].quick
    cube = fits("huber", geometry="linf")
    assert cube["lp.euclidean-reduction"].runs and not cube["lp.batched-mirror-descent"].runs
    zcdp = fits("logistic", epsilon=None, delta=None, rho=0.05)
    assert not zcdp["sco.objective-perturbation"].runs


def outcome(method: str, trial: int, error: float, refused: str = "") -> Outcome:
    """Return the outcome of one trial of a method, or one that was refused."""
    return Outcome(
        method=method,
        x=None,
        trial=trial,
        error=error,
        seconds=0.0,
        spent=None,
        not_applicable=refused or None,
    )


def test_the_advice_is_the_private_method_with_the_smallest_mean_error() -> None:
    runs = [outcome("mean.sample", t, 0.001) for t in range(5)]
    runs += [outcome("mean.clipped", t, 0.2 + 0.01 * t) for t in range(5)]
    runs += [outcome("mean.cwme-cdp", t, 0.1 + 0.01 * t) for t in range(5)]
    runs += [outcome("mean.iterative", t, math.nan, "too few") for t in range(5)]
    advised = advice(runs)
    assert [m for m, _ in advised.ranked] == ["mean.cwme-cdp", "mean.clipped"]
    assert advised.unbeaten == ("mean.cwme-cdp",) and advised.choice == "mean.cwme-cdp"
    assert advised.ranked[0][1] == pytest.approx(0.12)
    close = [outcome("mean.adaptive", t, 0.12 + 0.02 * (-1) ** t) for t in range(5)]
    tied = advice(runs + close, preferred=("mean.adaptive",))
    assert {"mean.adaptive", "mean.cwme-cdp"} == {*tied.unbeaten} and tied.choice == "mean.adaptive"
    assert advice(runs[:5]).ranked == advice(runs[:5]).unbeaten == ()


def test_the_about_command_describes_a_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["about", "mean.clipped"]) == 0
    message = capsys.readouterr().out
    for part in ("mean.clipped: Simple clipping", "Steps", "Sensitivity:", "upper.mean.clipped"):
        assert part in message
    assert main(["about", "sco.erm"]) == 0
    assert "None: it releases what it computes" in capsys.readouterr().out
    assert main(["about", "sco.private-sgd", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["gradients"] == 5001 and document["passes"] == pytest.approx(0.5001)
    assert Scenario.from_json(json.dumps(document["example"])) == example("sco.private-sgd")
    assert main(["about", "nothing"]) == 2
    assert "method must be" in capsys.readouterr().err

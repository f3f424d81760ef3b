"""A recipe states its setting, and how its radii translate to the units of the reader's data."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest

from dpsco_core.catalogue import METHOD_SLUGS, method_card, problem_class
from dpsco_core.cli.main import main
from dpsco_core.data import DenseRows
from dpsco_core.explain.recipe.recipe import recipe
from dpsco_core.explain.recipe.setting import (
    setting_in_words,
    standard_deviation,
    unit_in_words,
)
from dpsco_core.problems.linear_models import LinearModelProblem
from dpsco_core.problems.points import PointProblem
from dpsco_core.problems.posed import OptimisationProblem
from dpsco_core.problems.samples.linear import LinearSample
from dpsco_core.problems.samples.points import PointSample
from dpsco_core.scenario import Scenario
from tests.folded import each

SMALL = ("--n", "2000", "--d", "3")
PROBLEMS = ("quadratic", "linear", "geometric-median", "logistic", "hinge", "absolute", "huber")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must succeed; return what it prints."""
    assert main(words) == 0
    return str(capsys.readouterr().out)


def flat(text: str) -> str:
    """Return a text with single spaces."""
    return " ".join(text.split())


@pytest.mark.parametrize(
    ("slug", "flags"),
    [
        ("mean.clipped", ()),
        ("mean.adaptive", ("--p", "2.5")),
        ("sco.clipped", ("--problem", "logistic")),
        ("sco.dp-sgd", ("--problem", "quadratic", "--epsilon", "2")),
        ("user.mean-clipped", ("--m", "16")),
    ],
)
def test_about_and_run_print_the_same_recipe_at_the_same_flags(
    capsys: pytest.CaptureFixture[str], slug: str, flags: tuple[str, ...]
) -> None:
    """Before, each command had a p and a size of its own: those of the method's example, or the
    defaults.
    """
    run = ("run", "--method", slug, *SMALL, *flags, "--trials", "1")
    [by_run] = json.loads(printed(capsys, *run, "--json", "--recipe"))["recipes"]
    by_about = json.loads(printed(capsys, "about", slug, *SMALL, *flags, "--json"))["recipe"]
    assert {k: v for k, v in by_about.items() if k not in ("scenario", "code")} == by_run
    recipe_text = flat(printed(capsys, "about", slug, *SMALL, *flags)).split("Recipe at ")[1]
    table = flat(printed(capsys, *run)).split("Recipes at ")[1]
    point = Scenario.from_dict(by_about["scenario"])
    for text in (recipe_text, table):
        assert text.startswith(f"{setting_in_words(point)} units: {unit_in_words(point)}")


def test_about_without_flags_is_at_the_defaults_of_a_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    default = Scenario().to_dict()
    for slug in ("mean.clipped", "mean.coinpress", "sco.clipped", "lp.frank-wolfe"):
        document = json.loads(printed(capsys, "about", slug, "--json"))
        scenario = document["recipe"]["scenario"]
        differing = {name for name in default if scenario[name] != default[name]}
        assert differing <= {"problem", "geometry", "methods", "trials"}
        assert "not_applicable" not in document["recipe"]


@pytest.mark.slow
@pytest.mark.parametrize("slug", METHOD_SLUGS)
def test_every_private_method_has_a_recipe_without_flags(
    capsys: pytest.CaptureFixture[str], slug: str
) -> None:
    if method_card(slug).privacy == "none":
        assert "Recipe at" not in printed(capsys, "about", slug)
        return
    text = printed(capsys, "about", slug)
    assert "budget spent" in text and max(map(len, text.splitlines())) <= 100


@each(
    ("point", "words"),
    [
        (Scenario(), ("n = 10,000, d = 20, (1, 1e-06)-DP, p = 3, geometry l2, diameter 4",)),
        (Scenario(geometry="lq", q=1.5), ("geometry l1.5",)),
        (Scenario(m=16, epsilon=None, delta=None, rho=0.5), ("m = 16 items", "0.5-zCDP")),
        (Scenario(problem="logistic", methods=()), ("Logistic regression: n = ",)),
    ],
)
def test_the_setting_lists_everything_on_which_a_recipe_depends(
    point: Scenario, words: tuple[str, ...]
) -> None:
    text = setting_in_words(point)
    assert all(word in text for word in words)


@each("scale", ["moment", "variance"])
@each("decay", [0.0, 0.5])
def test_the_standard_deviation_agrees_with_draws(scale: Any, decay: float) -> None:
    """The largest sample deviation is within 5 standard errors of the stated one, for a law with a
    fourth moment.
    """
    point = Scenario(distribution="gaussian", d=4, scale=scale, decay=decay)
    rows = point.instance.law.sample(200_000, np.random.default_rng(0))
    x = np.concatenate(list(rows.blocks()))
    widest = float(np.max(np.std(x, axis=0)))
    assert widest == pytest.approx(standard_deviation(point), rel=5 / math.sqrt(2 * 200_000))
    moment = float(np.mean(np.abs(x[:, 0] - x[:, 0].mean()) ** 3) ** (1 / 3))
    [bound] = re.findall(r"is at most ([\d.]+)\. ", unit_in_words(point))
    assert moment == pytest.approx(float(bound), rel=0.01)


def test_without_a_variance_the_moment_alone_is_named() -> None:
    text = unit_in_words(Scenario(p=1.5, margin=0.2))
    assert "no variance" in text and "standard deviation" not in text


@pytest.mark.parametrize("slug", PROBLEMS)
def test_a_gradient_has_its_stated_unit(slug: str) -> None:
    """Rescaling records or features scales a gradient by the same factor, or not at all, as its
    unit states.
    """
    rng, factor = np.random.default_rng(1), 7.0
    x, w = rng.standard_normal((5, 3)), rng.standard_normal(3)
    problem = Scenario(problem=slug, d=3, methods=()).instance.problem
    gradients = []
    for u in (1.0, factor):
        if isinstance(problem, LinearModelProblem):
            sample: Any = LinearSample(
                DenseRows(u * x), np.ones(5), problem.link, problem.constraint
            )
            gradients.append(sample.gradients(w / u))
        else:
            assert isinstance(problem, PointProblem)
            sample = PointSample(DenseRows(u * x), problem.loss, problem.constraint)
            gradients.append(sample.gradients(u * w))
    gradient, scaled = (rows.take(np.arange(5)) for rows in gradients)
    assert isinstance(problem, OptimisationProblem) and len(problem.gradient_units) <= 1
    expected = factor if problem.gradient_units else 1.0
    np.testing.assert_allclose(scaled, expected * gradient, rtol=1e-9)


def test_the_gradient_of_least_squares_has_two_units() -> None:
    kind = problem_class("least-squares")
    assert kind.gradient_units == ("features", "targets")  # type: ignore[attr-defined]
    text = unit_in_words(Scenario(problem="least-squares", methods=()))
    assert "by the unit of your targets" in text


def test_the_units_are_in_the_json() -> None:
    unit = recipe(Scenario(n=2000, d=3), "mean.clipped").to_dict()["unit"]
    assert unit["moment_order"] == 3 and unit["moment_root"] == pytest.approx(1.0)
    assert unit["standard_deviation"] == pytest.approx(0.6254, abs=1e-4)

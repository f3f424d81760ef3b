"""The class of losses of a bound: its statement names it, and it decides for which problems it
counts.
"""

from __future__ import annotations

import json
import re
from itertools import product
from typing import get_args

import pytest

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import BoundCard, Level
from dpsco_core.base.loss_classes import LossClass
from dpsco_core.catalogue import BOUND_SLUGS, BOUNDS, bound, bounds_for, problem_card
from dpsco_core.cli.main import main
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.results.report import evaluate
from dpsco_core.scenario import Scenario
from tests.folded import each

ALL_CLASSES = tuple(
    value for value in vars(classes).values() if isinstance(value, LossClass)
)  # These are the classes that have a name.
ISSUE = [
    *("run", "--problem", "quadratic", "--method", "sco.clipped", "--n", "100000", "--d", "5"),
    *("--p", "2.5", "--margin", "1", "--rho", "0.5", "--trials", "2", "--all"),
]


def own_class(problem: str) -> LossClass:
    """Return the class of losses of a problem."""
    return problem_card(problem).loss_class


@each("slug", BOUND_SLUGS)
def test_every_bound_has_the_class_that_its_hypotheses_require(slug: str) -> None:
    card, hypotheses = bound(slug).card, {h.text for h in bound(slug).hypotheses}
    loss_class = card.loss_class
    assert (loss_class == classes.MEAN) == (card.problems == ("mean",))
    assert loss_class.strongly_convex == any("strongly convex" in text for text in hypotheses) or (
        # Its hypothesis `lambda <= L/M` stands for strong convexity, without these words.
        # A bound about one loss or one law does not state the convexity of a class.
        slug == "lower.sco-strong.width" or card.of_law
    )
    if card.kind == "upper":
        linear = "a linear loss" in hypotheses  # Such losses are smooth and generalised linear.
        smooth = any("smooth" in text for text in hypotheses)
        assert loss_class.smooth == (smooth or linear or loss_class.squared_distance)
        generalised = "a generalised linear loss" in hypotheses
        assert loss_class.generalised_linear == (generalised or linear)
    assert loss_class.lipschitz == ("every record's loss is Lipschitz" in hypotheses)


@each("slug", BOUND_SLUGS)
def test_the_class_of_a_bound_agrees_with_the_problems_on_its_card(slug: str) -> None:
    row = bound(slug)
    card = row.card
    problems = {
        p for p in ("mean", *SCO_PROBLEMS) if own_class(p).has_curvature_of(card.loss_class)
    }
    assert set(card.problems) <= problems
    if card.of_law or card.losses:  # Such a bound is proven with the losses of one problem.
        problems = {card.instance_problem} if card.kind == "lower" else set(card.problems)
        assert len(problems) == 1
    records = "every record's loss is strongly convex" in {h.text for h in row.hypotheses}
    if not records:  # Least squares is strongly convex in expectation only.
        assert set(card.problems) == problems
    if card.kind == "upper":
        assert all(card.applies_to(own_class(p)) for p in card.problems)
    else:
        # The hard instance belongs to the class of the statement, and is made by the problem on the
        # card.
        assert card.instance_class.has_curvature_of(card.loss_class)
        assert card.instance_class.lipschitz or not card.loss_class.lipschitz
        assert card.instance_class.smooth or not card.loss_class.smooth
        made_by = own_class(card.instance_problem)
        assert made_by.curvature == card.instance_class.curvature
        assert card.applies_to(made_by)


def test_a_class_is_within_another_if_it_has_all_properties_of_the_other() -> None:
    assert classes.SMOOTH_STRONG.is_within(classes.SMOOTH)
    assert classes.LINEAR.is_within(classes.SMOOTH) and classes.LINEAR.is_within(classes.CONVEX)
    assert classes.LIPSCHITZ_LINEAR.is_within(classes.GENERALISED_LINEAR)
    assert not classes.LINEAR.is_within(classes.STRONG)
    assert not classes.LINEAR.is_within(classes.LIPSCHITZ)
    assert not classes.CONVEX.is_within(classes.SMOOTH)
    assert not classes.MEAN.is_within(classes.CONVEX) and not classes.CONVEX.is_within(classes.MEAN)
    for a, b, c in product(ALL_CLASSES, repeat=3):
        assert a.is_within(a)
        assert a == b or not (a.is_within(b) and b.is_within(a))
        assert a.is_within(c) or not (a.is_within(b) and b.is_within(c))
    assert len({str(c) for c in ALL_CLASSES}) == len(ALL_CLASSES)
    assert str(classes.SMOOTH_LIPSCHITZ_STRONG) == "smooth Lipschitz strongly convex"
    assert classes.SQUARED_DISTANCE.is_within(classes.SMOOTH_STRONG)
    assert not classes.SMOOTH_STRONG.has_curvature_of(classes.SQUARED_DISTANCE)
    assert str(classes.LIPSCHITZ_SQUARED_DISTANCE) == "Lipschitz squared-distance"


@pytest.mark.parametrize("problem", SCO_PROBLEMS)
def test_a_problem_certifies_what_its_class_says(problem: str) -> None:
    problem_class = own_class(problem)
    for law in ("student-t", "hypercube"):
        scenario = Scenario(problem=problem, distribution=law, methods=(), n=100, d=3).validate()
        constants = scenario.setting.constants
        # The features of a hard instance lie on one line, so its risk may lack the curvature.
        if law == "student-t":
            assert problem_class.strongly_convex == (constants.strong_convexity > 0)
        assert constants.sample_smoothness < float("inf") or not problem_class.smooth
        assert constants.lipschitz < float("inf") or not problem_class.lipschitz
        assert (problem_class.curvature == "linear") == (constants.structure == "linear")


def test_a_lower_bound_counts_only_where_the_class_of_the_problem_holds_its_hard_instance() -> None:
    convex, strong = bound("lower.sco.hypercube-cdp").card, bound("lower.sco-strong.rate-cdp").card
    bounded = bound("lower.sco.rate-lipschitz").card
    counts = {p: (convex.applies_to(c), strong.applies_to(c), bounded.applies_to(c))
              for p, c in ((p, own_class(p)) for p in SCO_PROBLEMS)}  # fmt: skip
    assert counts["quadratic"] == counts["least-squares"] == (False, True, False)
    # Gradients of norm at most 1 rule out rare spikes, but not every linear loss.
    assert counts["geometric-median"] == (False, False, True)
    assert counts["linear"] == (True, False, True)
    assert counts["logistic"] == counts["hinge"] == (True, True, True)


def test_an_upper_bound_for_convex_losses_holds_for_the_quadratic_but_not_the_other_way() -> None:
    assert bound("upper.sco.clipped-explicit").card.applies_to(own_class("quadratic"))
    assert not bound("upper.sco.cwme-strong-explicit").card.applies_to(own_class("logistic"))
    assert not bound("upper.mean.clipped").card.applies_to(own_class("quadratic"))


@pytest.mark.parametrize(
    ("point", "upper"),
    [
        (Scenario(problem="quadratic", methods=(), n=10**6, d=5, p=2.5, diameter=50.0, rho=5.0),
         "upper.sco.cwme-strong-explicit"),
        (Scenario(problem="geometric-median", methods=(), n=10**5, d=5, p=2.0, rho=0.5),
         "upper.lp.batched-mirror-descent-explicit"),
    ],
)  # fmt: skip
def test_a_lower_bound_of_another_class_may_be_above_a_proven_upper_bound(
    point: Scenario, upper: str
) -> None:
    proven = evaluate(point, bound(upper))
    evaluation = evaluate(point, bound("lower.sco.hypercube-cdp"))
    assert not proven.failures and not evaluation.failures
    assert proven.applies and not evaluation.applies
    assert proven.value < evaluation.value


@pytest.mark.parametrize("problem", ["mean", *SCO_PROBLEMS])
@pytest.mark.parametrize("level", get_args(Level))
def test_the_bounds_of_the_smallest_class_come_first(problem: str, level: Level) -> None:
    problem_class = own_class(problem)
    cards = [b.card for b in bounds_for(problem, level)]
    keys = [(c.is_wider(problem_class), not c.applies_to(problem_class)) for c in cards]
    assert keys == sorted(keys)
    known = [b.card for b in BOUNDS]
    for key in set(keys):
        alike = [c for c, k in zip(cards, keys, strict=True) if k == key]
        assert alike == sorted(alike, key=known.index)


def test_a_run_prints_the_strongly_convex_bounds_first_and_names_the_wider_class(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(ISSUE) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line for line in lines if line.split()[:1] and line.split()[0] in BOUND_SLUGS]
    cards = [bound(row.split()[0]).card for row in rows]
    assert {card.kind for card in cards} == {"lower"}
    strong = [card.loss_class.curvature == "strongly convex" for card in cards]
    assert strong[0] and strong == sorted(strong, reverse=True)
    text = " ".join(lines)
    (note,) = re.findall(r"note: the lower bounds.*?as those here are", text)
    assert "for smooth convex losses do not bind" in note
    assert "not squared-distance losses" in note


def test_a_run_on_a_problem_of_the_class_has_no_note_about_a_wider_class(
    capsys: pytest.CaptureFixture[str],
) -> None:
    linear = [*ISSUE]
    linear[linear.index("quadratic")] = "linear"
    assert main(linear) == 0
    assert "do not bind" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["run", "bounds"])
def test_json_has_the_class_of_every_bound_and_whether_it_counts_here(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, *ISSUE[1:], "--json"]) == 0
    for row in json.loads(capsys.readouterr().out)["bounds"]:
        card: BoundCard = bound(row["slug"]).card
        assert row["loss_class"] == str(card.loss_class)
        assert row["applies"] == card.applies_to(own_class("quadratic"))


def test_the_catalogue_and_a_methods_story_have_the_class(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["catalogue", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    for row in listed["bounds"]:
        assert row["loss_class"] == str(bound(row["slug"]).card.loss_class)
    for row in listed["problems"]:
        assert row["loss_class"] == str(own_class(row["slug"]))
    assert main(["catalogue"]) == 0
    text = capsys.readouterr().out
    # A class of several words is wrapped within the width of its column.
    assert "smooth strongly" in text and "mean estimation" in text
    assert main(["about", "sco.cwme-strong", "--json"]) == 0
    story = json.loads(capsys.readouterr().out)
    assert set(story["loss_class"]) == set(story["bounds"])
    assert set(story["loss_class"].values()) == {"smooth strongly convex"}
    assert main(["about", "sco.cwme-strong"]) == 0
    assert "(rate, smooth strongly convex)" in capsys.readouterr().out

"""Below p = 2 every bound and every method has a reason why it holds, or refuses in a sentence."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from dpsco_core.base.errors import NotApplicable
from dpsco_core.bounds.base import Bound
from dpsco_core.catalogue import BOUNDS, METHODS, make_method, method_card
from dpsco_core.privacy.budget import PureDP
from dpsco_core.results.report import evaluate
from dpsco_core.scenario import Scenario
from tests.folded import each

# Every bound and every method that holds below 2 is here, with the reason on its card.
VALID = {
    "upper.mean": (
        "sample-below-two adaptive-expected clipped-below-two clipped-below-two-run "
        "cwme-cdp-below-two cwme-cdp-below-two-run cwme-pure-below-two "
        "cwme-pure-below-two-run"
    ),
    "upper.sco-strong": (
        "projected-clipped-below-two projected-cwme-cdp-below-two projected-cwme-pure-below-two"
    ),
    "upper.sco": (
        "fresh-batches fresh-batches-coordinate fresh-batches-run fresh-batches-pure "
        "fresh-batches-pure-coordinate fresh-batches-pure-run"
    ),
    "lower.mean": (
        "fano-distance-cdp fano-distance-cdp-squared two-sided-cdp two-sided-cdp-squared "
        "fano-cdp fano-cdp-gilbert fano-cdp-squared fano-pure fano-pure-markov "
        "hypercube-cdp hypercube-cdp-closed hypercube-cdp-squared hypercube-pure "
        "hypercube-pure-squared approx-tracing approx-tracing-squared tracing-cdp "
        "tracing-cdp-squared approx-assouad approx-assouad-squared approx-packing "
        "approx-packing-squared rate-distortion-cdp rate-distortion-cdp-squared gaussian "
        "bounded-signs biased-signs unseen unseen-squared floor-cdp floor-cdp-squared "
        "floor-approx floor-approx-squared floor-pure floor-pure-squared"
    ),
    "lower.sco": (
        "fano-distance-cdp two-sided-cdp fano-cdp fano-pure hypercube-cdp hypercube-pure "
        "approx-tracing approx-assouad approx-packing tracing-cdp sampling-signs unseen "
        "fano-corners-cdp two-sided-corners-cdp approx-corners fano-blocks-cdp "
        "two-sided-blocks-cdp approx-blocks fano-lq-cdp two-sided-lq-cdp approx-lq "
        "floor-cdp floor-approx floor-pure"
    ),
    "lower.sco-strong": (
        "fano-distance-cdp two-sided-cdp fano-cdp fano-pure hypercube-cdp hypercube-pure "
        "approx-tracing approx-assouad approx-packing tracing-cdp rate-distortion-cdp "
        "sampling-signs sampling-gaussian unseen floor-cdp floor-approx floor-pure"
    ),
}
VALID_BOUNDS = {f"{area}.{name}" for area, names in VALID.items() for name in names.split()}
VALID_METHODS = (
    "mean.sample",
    "mean.median-of-means",
    "mean.clipped",
    "mean.cwme-cdp",
    "mean.cwme-pure",
    "mean.adaptive",
    "sco.erm",
    "sco.fresh-batches",
)


def problem_of(slugs: tuple[str, ...]) -> str:
    """Return a problem that may have a tail index below 2, of some if there is one."""
    return next((slug for slug in slugs if slug in ("mean", "linear", "quadratic")), "mean")


@each("row", BOUNDS, ids=lambda row: row.card.slug)
@each("p", (1.1, 1.6))
def test_every_bound_has_its_reason_below_two_or_refuses(row: Bound, p: float):
    point = Scenario(problem=problem_of(row.card.problems), p=p, n=400, d=4, methods=()).validate()
    at = point.setting
    if row.card.slug in VALID_BOUNDS:
        assert row.card.infinite_variance.endswith(".")
        assert not row.needs_variance(at)
        assert row.value(at) >= 0
        return
    assert not row.card.infinite_variance
    sentence = f"The proof of this bound needs a second moment, and records with tail index p={p:g}"
    assert row.failures(at) == (row.refusal(at),)
    assert row.failures(at)[0].startswith(sentence)
    assert row.value(at) == (math.inf if row.card.kind == "upper" else 0.0)
    evaluation = evaluate(point, row)
    assert math.isnan(evaluation.value)
    assert all(math.isnan(term) for term in evaluation.terms.values())
    # At p = 2 the same sentence is not said.
    assert not row.needs_variance(replace(at, moment_order=2.0))


@each("family", METHODS, ids=lambda family: family.card.slug)
@each("p", (1.1, 1.6))
def test_every_method_has_its_reason_below_two_or_refuses(family: Any, p: float):
    slug = family.card.slug
    point = Scenario(
        problem=problem_of(family.card.problems), p=p, n=400, d=4, methods=()
    ).validate()
    method = make_method(slug, "tight", "practical")
    if slug in VALID_METHODS:
        assert method_card(slug).infinite_variance.endswith(".")
        at = point.setting
        if slug == "mean.cwme-pure":
            at = replace(at, budget=PureDP(epsilon=1.0))
        assert method.plan(at).setting is at
        return
    with pytest.raises(NotApplicable, match="^The method needs a second moment") as caught:
        method.plan(point.setting)
    assert caught.value.changes == (("p", 2.0),)
    assert not method_card(slug).infinite_variance


def test_no_variance_is_certified_below_two():
    for problem in ("mean", "linear", "quadratic"):
        point = Scenario(problem=problem, p=1.4, methods=()).validate()
        assert point.setting.constants.variance_trace == math.inf, problem

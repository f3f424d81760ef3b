"""Errors without a variance have no standard error, and interfaces work below p = 2."""

from __future__ import annotations

import json

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.methods.mean.not_private import NO_MEAN_SQUARE
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.results.report import measured_json
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

SMALL = {"n": 500, "d": 3, "trials": 4, "methods": ("mean.sample", "mean.cwme-cdp")}


def results(**changes):
    """Run a small scenario; return the results of its JSON report by method."""
    scenario = Scenario(**(SMALL | changes)).validate()
    rows = measured_json(scenario, list(study(scenario)))["results"]
    return {row["method"]: row for row in rows}


def test_the_sample_mean_without_a_variance_has_no_standard_error_but_a_median():
    rows = results(p=1.5)
    sample, private = rows["mean.sample"], rows["mean.cwme-cdp"]
    assert sample["standard_error"] is None
    assert sample["median_error"] > 0 and set(sample["quantiles"]) >= {"0.1", "0.9"}
    assert sample["notes"] == [NO_MEAN_SQUARE]
    assert private["standard_error"] > 0 and not private["notes"]


def test_where_the_law_has_a_variance_there_is_a_standard_error():
    # Normal records have a variance at every p, and so have Student's at p = 1.8 with a margin of a
    # half.
    assert results(p=1.5, distribution="gaussian")["mean.sample"]["standard_error"] > 0
    assert results(p=1.8)["mean.sample"]["standard_error"] > 0
    assert results(p=2.0)["mean.sample"]["standard_error"] > 0


def test_the_exact_error_of_the_hypercube_keeps_its_standard_error_of_zero():
    row = results(p=1.5, distribution="hypercube")["mean.sample"]
    assert row["exact"] and row["standard_error"] == 0.0


def test_the_command_line_runs_and_bounds_below_two(capsys):
    main(["run", "--p", "1.5", "--n", "300", "--d", "2", "--trials", "2", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["scenario"]["p"] == 1.5
    main(["bounds", "--p", "1.1", "--n", "300", "--d", "2", "--json"])
    rows = {row["slug"]: row for row in json.loads(capsys.readouterr().out)["bounds"]}
    assert rows["upper.mean.cwme-cdp-below-two"]["value"] > 0
    refused = rows["upper.mean.sample"]
    assert refused["value"] is None and not refused["holds"]
    assert refused["failures"][0].startswith("The proof of this bound needs a second moment")
    assert "shrunk" in rows["lower.mean.hypercube-cdp"]["note"]


@pytest.mark.parametrize("rho", [0.01, 0.5])
def test_the_ledger_books_the_same_for_every_tail(rho):
    spent = []
    for p in (1.2, 3.0):
        point = Scenario(p=p, n=200, d=2, rho=rho, epsilon=None, delta=None, methods=())
        (outcome,) = study(
            Scenario.from_dict(point.to_dict() | {"methods": ["mean.cwme-cdp"], "trials": 1})
        )
        spent.append(outcome.spent)
    assert spent[0] == spent[1]
    assert Ledger(point.budget).entries == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"p": 1.05}, "p must be at least 1.1 and at most 50, got p=1.05."),
        ({"problem": "logistic", "methods": ()}, "p must be at least 2 for the problem logistic"),
        ({"margin": 0.01}, "margin must be at least 0.05 for p below 2"),
        ({"scale": "variance"}, "scale must be moment for p below 2"),
    ],
    ids=str,
)
def test_a_combination_that_is_not_allowed_below_two_is_named(changes, words):
    with pytest.raises(InvalidInput, match=words):
        Scenario(**({"p": 1.5} | changes)).validate()
    usual = {"p": 2.0} | {name: value for name, value in changes.items() if name != "p"}
    assert Scenario(**usual).validate().p == 2.0

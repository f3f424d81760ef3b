"""Runs of users whose items are correlated: keys and data of other runs are unchanged."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import numpy as np
import pytest

from dpsco_core.base.limits import LIBRARY
from dpsco_core.base.parsing import to_text
from dpsco_core.catalogue import bound
from dpsco_core.cli.main import main
from dpsco_core.explain.need.runs import first_users
from dpsco_core.results.report import evaluate
from dpsco_core.runs.allowed import nearest_allowed
from dpsco_core.runs.store import NUMBERS_VERSION, key_of
from dpsco_core.runs.study import _draw_dataset, canonical, cells, data_point, stream
from dpsco_core.scenario import Scenario

POINT = Scenario(n=300, m=8, d=3, p=2.5, methods=("user.mean-clipped",), trials=2)
ADDED_FIELDS = ("scale", "decay", "alike")
BOUND = "upper.user.mean-clipped-run"


def test_keys_and_data_of_independent_items_are_unchanged() -> None:
    cell = next(iter(cells(POINT.validate())))
    fields = {k: v for k, v in canonical(cell.point).to_dict().items() if k not in ADDED_FIELDS}
    text = json.dumps([NUMBERS_VERSION, fields, cell.method, cell.trial], sort_keys=True)
    assert key_of(cell) == hashlib.blake2b(text.encode(), digest_size=20).digest()
    alike = next(iter(cells(replace(POINT, alike=0.3).validate())))
    assert key_of(alike) != key_of(cell)
    place = data_point(cell.point)
    label = " ".join(_words(place))
    rng = stream(POINT.seed, f"data {label}", 1)
    problem = place.instance.problem.draw(rng)
    assert np.array_equal(
        _draw_dataset(place, 1)[1].records.x,  # type: ignore[union-attr]
        problem.sample(POINT.n * POINT.m, rng).x,
    )


def _words(place: Scenario) -> list[str]:
    """Return the words of a data set's label as they were before the field for correlated items was
    added.
    """
    return [f"{k}={to_text(v)}" for k, v in place.to_dict().items() if k not in ADDED_FIELDS]


def test_an_address_holds_the_shared_part_and_old_addresses_mean_independent_items() -> None:
    alike = replace(POINT, alike=0.25)
    assert alike.to_query()["alike"] == "0.25" and "alike" not in POINT.to_query()
    assert Scenario.from_query(alike.to_query()) == alike
    assert Scenario.from_query(POINT.to_query()).alike == 0
    assert "alike=0.25" in alike.to_code()
    # A law without correlated items is offered without that field.
    assert nearest_allowed(replace(alike, distribution="spike"), LIBRARY) == ("alike", 0.0)


def test_the_command_line_runs_correlated_items_and_prints_the_bounds_that_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags = ["--n", "300", "--m", "8", "--d", "3", "--tail", "2.5", "--trials", "2"]
    flags += ["--method", "user.mean-clipped", "--alike", "0.3"]
    assert main(["run", *flags, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["scenario"]["alike"] == 0.3
    assert main(["bounds", *flags]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert BOUND in text
    assert "takes the items of a user as independent, and here they have alike=0.3" in text
    point = replace(POINT, alike=0.3).validate()
    assert not evaluate(point, bound(BOUND)).failures


def test_the_search_for_enough_users_draws_correlated_items() -> None:
    problem = replace(POINT, alike=0.5).instance.problem
    samples = [first_users(problem, n, 8, np.random.default_rng(0)) for n in (50, 60)]
    rows = [users.records.x for users in samples]  # type: ignore[union-attr]
    assert np.array_equal(rows[0], rows[1][:400])
    items = rows[1].reshape(60, 8, 3) - problem.law.mean
    assert (items[:, 0] * items[:, 1]).mean() > 0.1

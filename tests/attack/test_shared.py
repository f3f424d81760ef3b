"""What the methods of a trial share stays as it was drawn, whatever added code does with it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsco_core.base.errors import CodeFailed
from dpsco_core.catalogue import PROBLEM_SLUGS
from dpsco_core.methods.base import Plan, Release, released
from dpsco_core.privacy import ZCDP, GaussianNoise, Ledger
from dpsco_core.privacy.mechanisms.steps import BudgetExceeded
from dpsco_core.runs.study import _cached_dataset, data_point, planned
from dpsco_core.scenario import Scenario
from tests.folded import one_in
from tests.test_extend import BLOCKS, METHOD, run_commands

STEPS = """        value = ledger.release(
            GaussianNoise(l2_sensitivity=1.0, rho=plan.rho / 2), np.zeros(rows.d), rng
        )
        {steps}
        return Release(value=value, ledger=ledger)"""
WRITES = r"it writes in line \d+ into shared data: copy it first"
# Faulty releases: the line that the release runs, and a part of the sentence that reports it.
FAULTS = {
    "writes-a-block": ("for block in rows.blocks():\n            block -= 5.0", WRITES),
    "writes-the-rows": ("rows.x[:] = 0.0", WRITES),
    "sorts-a-block": ("next(rows.blocks()).sort(axis=0)", WRITES),
    "opens-a-block": ("next(rows.blocks()).setflags(write=True)", WRITES),
    "writes-norms": ("rows.norms()[:] = 0.0", WRITES),
    "draws-globally": (
        "value = value + np.random.normal(size=rows.d)",
        "np.random is used: draw from the rng given",
    ),
    "raises-its-own-end": ("raise type('End', (BaseException,), {})('over')", r"End in line \d+"),
    "raises-generator-exit": ("raise GeneratorExit", r"GeneratorExit in line \d+"),
    "swallows-a-refusal": (
        "mechanism = GaussianNoise(l2_sensitivity=1.0, rho=99.0)\n"
        "        try:\n            ledger.release(mechanism, value, rng)\n"
        "        except Exception:\n            pass",
        "one that ends when the ledger refuses",
    ),
    "is-beyond-measure": ("value = np.full(rows.d, 1e308)", "an error of at most 1e\\+100"),
}


def faulty(folder: Path, fault: str) -> tuple[str, str]:
    """Write the estimator of the page on extensions with a faulty release; return its slug and its
    file's name.
    """
    good = BLOCKS["my_mean.py"]
    start, end = good.index("        centre"), good.index("\n\n\nMETHODS")
    slug = f"mean.{fault}"
    bad = good[:start] + STEPS.format(steps=FAULTS[fault][0]) + good[end:]
    (folder / f"{slug}.py").write_text(bad.replace(METHOD, slug), encoding="utf-8")
    return slug, f"{slug}.py"


def test_a_fault_is_one_sentence_and_changes_no_other_method(tmp_path: Path) -> None:
    """A block that was written into once gave `mean.clipped` an error of 7.9 without a word."""
    common = ("run", "--n=400", "--d=3", "--trials=2", "--workers=1", "--json")
    commands = [(*common, "--method=mean.clipped")]
    for fault in FAULTS:
        slug, file = faulty(tmp_path, fault)
        commands.append((*common, f"--method={slug}", "--method=mean.clipped", f"--with={file}"))
    (status, out, _), *answers = run_commands(tmp_path, *commands)
    assert status == 0
    (honest,) = json.loads(out)["results"]
    for (fault, (_, sentence)), (status, out, err) in zip(FAULTS.items(), answers, strict=True):
        assert status == 2, fault
        complaint = err.strip()
        assert complaint.startswith("dpsco: ") and "\n" not in complaint, (fault, complaint)
        assert f"method=mean.{fault}" in complaint, complaint
        assert re.search(sentence, complaint), complaint
        clean = [r for r in json.loads(out)["results"] if r["method"] == "mean.clipped"]
        assert [r["mean_error"] for r in clean] == [honest["mean_error"]], fault


STORED = """
import sys
from dpsco_core import Scenario, extend, study
from dpsco_core.runs.store import Store
extend.load(sys.argv[1])
both = Scenario(methods=(sys.argv[2], "mean.clipped"), n=200, trials=3)
alone = Scenario(methods=("mean.clipped",), n=200, trials=3)
with Store("r.sqlite") as store:
    list(study(both, store=store))
    assert len(store) == 3  # nothing of the one that failed
    assert [o.error for o in store.outcomes(alone)] == [o.error for o in study(alone)]
"""


def test_a_plugin_that_writes_leaves_the_cells_of_a_store_as_they_are(tmp_path: Path) -> None:
    slug, file = faulty(tmp_path, "writes-a-block")
    child = subprocess.run(
        [sys.executable, "-c", STORED, file, slug],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr


def arrays(value: Any, path: str = "") -> Iterator[tuple[str, np.ndarray]]:
    """Yield every array that a value holds, with the path of attributes and indices that leads
    there.
    """
    if isinstance(value, np.ndarray):
        yield path, value
    elif is_dataclass(value) and not isinstance(value, type):
        for name in {*(f.name for f in fields(value)), *vars(value)}:
            yield from arrays(getattr(value, name, None), f"{path}.{name}")
    elif isinstance(value, tuple | list):
        for i, item in enumerate(value):
            yield from arrays(item, f"{path}[{i}]")


def assert_closed(name: str, array: np.ndarray) -> None:
    """Assert that an array cannot be written to, nor be made writeable."""
    assert not array.flags.writeable, name
    with pytest.raises(ValueError, match="WRITEABLE"):
        array.view().setflags(write=True)


@pytest.mark.parametrize("m", [1, 4])
@pytest.mark.parametrize("problem", PROBLEM_SLUGS)
def test_no_drawn_array_can_be_written_to(problem: str, m: int) -> None:
    point = data_point(Scenario(problem=problem, n=60, m=m, d=3))
    instance, sample = _cached_dataset(point, 0)
    named_arrays = list(arrays(sample, "sample"))
    assert named_arrays
    for name, array in (*named_arrays, *arrays(instance, "problem")):
        assert_closed(name, array)
    for name in ("minimiser", "mean"):
        for named_array in arrays(
            getattr(instance, name, None), name
        ):  # Each array that a property returns is either new at each call or closed to writing.
            if np.shares_memory(named_array[1], getattr(instance, name)):
                assert_closed(*named_array)


def test_blocks_of_generated_records_cannot_be_written_to() -> None:
    point = data_point(Scenario(problem="huber", n=60, d=3))
    for generated in (point.instance.problem.stream(60, np.random.default_rng(0)),):
        for block in generated.blocks():
            for name, array in arrays(block, "block"):
                assert_closed(name, array)
    rows = point.instance.problem.law.sample(60, np.random.default_rng(0))
    for block in rows.blocks():
        assert not block.flags.writeable


def test_the_arrays_of_a_plan_cannot_be_written_to() -> None:
    checked_arrays = 0
    for method, problem in (("sco.ftrl", "logistic"), ("lp.noisy-mirror-descent", "logistic")):
        point = Scenario(problem=problem, n=400, d=3, methods=(method,))
        for name, array in arrays(planned(point, method), "plan"):
            assert_closed(name, array)
            checked_arrays += 1
    assert checked_arrays


def test_a_refusal_of_a_part_of_the_ledger_is_remembered_by_the_whole() -> None:
    ledger, rng = Ledger(ZCDP(rho=0.5)), np.random.default_rng(0)
    part, _ = ledger.disjoint(2)
    with pytest.raises(BudgetExceeded):
        part.release(GaussianNoise(l2_sensitivity=1.0, rho=2.0), np.zeros(2), rng)
    assert ledger.refusal

    class Goes:
        card = planned.__globals__["method_card"]("mean.clipped")

        def release(self, *_: Any) -> Release:
            """Return zero, and spend nothing."""
            return Release(value=np.zeros(2), ledger=ledger)

    plan = Plan(setting=Scenario(n=10, d=2).setting)
    with pytest.raises(CodeFailed, match="one that ends when the ledger refuses"):
        released(Goes(), None, plan, ledger, rng)  # type: ignore[arg-type]


@pytest.mark.parametrize("cost", one_in(3, ["float('nan')", "-1e30", "float('inf')"]))
def test_a_cost_that_is_no_time_is_refused(tmp_path: Path, cost: str) -> None:
    text = BLOCKS["my_mean.py"].replace(METHOD, "mean.costly")
    line = f"    cost = MethodCost(fixed=1.0, per_row={cost}, per_element=1.0)\n"
    text = text.replace('    reads = "ordered"\n', f'    reads = "ordered"\n{line}')
    text = text.replace("methods.base import Plan", "methods.base import MethodCost, Plan")
    (tmp_path / "costly.py").write_text(text, encoding="utf-8")
    ((status, _, err),) = run_commands(tmp_path, ("catalogue", "--with=costly.py"))
    assert status == 2 and err.startswith("dpsco: per_row of a cost must be nanoseconds from 0 to")

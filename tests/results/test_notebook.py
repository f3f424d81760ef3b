"""Scripts and notebooks of a run: valid, and the numbers are those of the study to the last bit."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpsco_core import InvalidInput, Scenario, frame, study, summary
from dpsco_core.results.notebook import run_notebook, run_script, script_to_notebook
from dpsco_core.results.report import evaluate_all

SWEEP = Scenario(
    methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"), axis="n", grid=(500, 2000), trials=3
)
POINT = Scenario(
    problem="quadratic", methods=("sco.clipped",), geometry="lq", q=1.5, n=500, d=3, trials=2
)
HARD = Scenario(distribution="hypercube", n=500, d=3, trials=2, methods=SWEEP.methods)
TIMED = "seconds"  # The only column that differs between two runs.


def run_notebook_code(source: str) -> dict[str, Any]:
    """Run the code cells in order, and return the names that they define."""
    names: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()):
        for cell in json.loads(source)["cells"]:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    return names


def assert_same_numbers(table: pd.DataFrame, other_table: pd.DataFrame) -> None:
    """Assert that two tables agree, but for the running times."""
    pd.testing.assert_frame_equal(
        table.drop(columns=TIMED),
        other_table.drop(columns=TIMED),
        check_exact=True,
        check_dtype=False,
    )


@pytest.mark.parametrize("scenario", [SWEEP, POINT, HARD], ids=["sweep", "point", "hard"])
def test_a_notebook_gives_the_numbers_of_the_study(scenario: Scenario) -> None:
    names = run_notebook_code(run_notebook([scenario]))
    cells = frame(study(scenario))
    assert_same_numbers(names["cells"], cells)
    assert_same_numbers(names["table"], summary(cells, scenario))
    assert names["table"]["exact"].any() == (scenario == HARD)
    values = [e.value for e in evaluate_all(scenario)]
    assert names["bounds"]["value"].tolist() == pytest.approx(values, nan_ok=True, rel=0, abs=0)
    assert {"class", "binds", "statement"} <= set(names["bounds"].columns)
    binds = names["bounds"].groupby("kind")["binds"].unique()
    assert set(binds["upper"]) == {""} and "every algorithm" in binds["lower"]
    assert len(names["figure"].data) >= len(scenario.methods)


def test_the_figure_of_a_notebook_has_means_and_the_bounds_that_hold() -> None:
    """The figure leaves out a bound whose hypotheses fail at this n, one on the square, and one for
    another budget.
    """
    two_bounds = {"Worst": ("lower.mean.fano-cdp", "lower.mean.hypercube-cdp")}
    lines = two_bounds | {
        "Proven": ("upper.mean.clipped-expected",),
        "Fails": ("upper.mean.smoothed",),
    }
    names = run_notebook_code(run_notebook([SWEEP], lines, ["1/sqrt(n)"]))
    figure = {trace.name: trace for trace in names["figure"].data}
    table = summary(frame(study(SWEEP)))
    for name, rows in table.groupby("name"):
        assert list(figure[name].y) == rows["mean_error"].tolist()
        assert all(half > 0 for half in figure[name].error_y.array)
    values = evaluate_all(SWEEP, [slug for slugs in lines.values() for slug in slugs])
    for name, slugs in lines.items():
        evaluations = [e for e in values if e.bound.card.slug in slugs and not e.failures]
        largest = {e.x: max(a.value for a in evaluations if a.x == e.x) for e in evaluations}
        assert dict(zip(figure[name].x, figure[name].y, strict=True)) == largest
    assert len(figure["Worst"].y) == len(figure["Proven"].y) == 2
    assert any(e.failures for e in values if e.bound.card.slug in lines["Fails"])
    assert list(figure["1/sqrt(n)"].y) == [n**-0.5 for n in SWEEP.grid]
    assert set(figure) == {*table["name"], *lines, "1/sqrt(n)", "Answer without data"}


def test_a_notebook_of_two_runs_names_both() -> None:
    names = run_notebook_code(run_notebook([SWEEP, HARD]))
    for run, scenario in (("shown", SWEEP), ("beside", HARD)):
        run_cells = names["cells"][names["cells"]["run"] == run]
        assert_same_numbers(run_cells.drop(columns=["run", "geometry"]), frame(study(scenario)))
        assert set(run_cells["geometry"]) == {scenario.geometry}
        table = names["table"][names["table"]["run"] == run].drop(columns="run")
        assert_same_numbers(table, summary(frame(study(scenario)), scenario))


def test_a_script_writes_every_cell_of_the_study(tmp_path: Path) -> None:
    scenario = SWEEP
    script, file = tmp_path / "run.py", tmp_path / "cells.csv"
    script.write_text(run_script([scenario]), encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-W", "error", str(script), str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    read = pd.read_csv(file, keep_default_na=False, na_values=[""])
    expected = pd.read_csv(
        io.StringIO(frame(study(scenario)).to_csv(index=False)),
        keep_default_na=False,
        na_values=[""],
    )
    assert_same_numbers(read, expected)
    assert "not_applicable" in process.stdout.splitlines()[0]


def test_a_notebook_is_valid_nbformat() -> None:
    document = json.loads(run_notebook([SWEEP]))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert set(document) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert document["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in document["cells"]]
    assert len(set(ids)) == len(ids) and all(1 <= len(i) <= 64 and i.isalnum() for i in ids)
    for cell in document["cells"]:
        code = cell["cell_type"] == "code"
        required = {"cell_type", "id", "metadata", "source"}
        assert set(cell) == required | ({"execution_count", "outputs"} if code else set())
        assert isinstance(cell["source"], list) and cell["source"]
        assert not cell["source"][-1].endswith("\n")
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        if code:
            compile("".join(cell["source"]), "cell", "exec")
    kinds = [cell["cell_type"] for cell in document["cells"]]
    assert kinds[0] == "markdown" and kinds.count("code") == 6


def test_the_percent_format_keeps_code_and_uncomments_prose() -> None:
    script = '"""Title."""\n\n# %%\n# a comment\nx = 1\n\n# %% [markdown]\n# ## Head\n#\n# text\n'
    cells = json.loads(script_to_notebook(script))["cells"]
    assert [(c["cell_type"], "".join(c["source"])) for c in cells] == [
        ("code", '"""Title."""'),
        ("code", "# a comment\nx = 1"),
        ("markdown", "## Head\n\ntext"),
    ]
    assert json.loads(script_to_notebook("# %%\n\n# %%\n"))["cells"] == []


def test_a_run_needs_one_to_three_scenarios() -> None:
    for scenarios in ([], [SWEEP] * 4):
        with pytest.raises(InvalidInput, match="scenarios must be one to 3, got"):
            run_script(scenarios)

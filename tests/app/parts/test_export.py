"""Exported files give the same numbers as the page, the library and the command line."""

from __future__ import annotations

import io
import json
import math
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dpsco_app.pages.explore.details import numbers
from dpsco_app.parts import export
from dpsco_core.cli.main import main
from dpsco_core.privacy import PureDP
from dpsco_core.results.intervals import run_json
from dpsco_core.results.notebook import run_script
from dpsco_core.results.tables import frame
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page, open_page, shown_result
from tests.app.places.test_one_run import open_at
from tests.app.results import SWEEP, run, table

REFUSING = Scenario(delta=0.0, trials=2, n=1000, methods=("mean.clipped", "mean.cwme-pure"))


@pytest.mark.parametrize("scenario", [SWEEP, REFUSING], ids=["sweep", "refused"])
def test_csv_parses_to_the_same_frame(scenario: Scenario) -> None:
    text = export.csv_text(run(scenario))
    read = pd.read_csv(io.StringIO(text), keep_default_na=False, na_values=[""])
    expected = frame(run(scenario).outcomes)
    for column in ("spent", "not_applicable"):
        read[column] = read[column].astype(object).where(read[column].notna(), "")
    pd.testing.assert_frame_equal(read, expected, check_dtype=False)


def without_seconds(value: Any) -> Any:
    """Return a JSON value without the fields that hold a running time."""
    if isinstance(value, dict):
        return {k: without_seconds(v) for k, v in value.items() if k != "seconds"}
    return [without_seconds(v) for v in value] if isinstance(value, list) else value


def test_json_is_what_the_command_line_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = open_page(trials="2")
    flags = []
    for name, text in shown_result(page).scenario.to_query().items():
        if name == "methods":
            flags += [part for slug in text.split(",") for part in ("--method", slug)]
        else:
            flags += [f"--{name}", text]
    assert main(["run", "--json", *flags]) == 0
    printed = json.loads(capsys.readouterr().out)
    exported = json.loads(export.json_text(shown_result(page)))
    assert without_seconds(exported) == without_seconds(printed)


def test_the_script_prints_the_same_numbers(tmp_path: Any) -> None:
    script = tmp_path / "dpsco_run.py"
    script.write_text(run_script([SWEEP]), encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    head = process.stdout.splitlines()[: len(table(SWEEP)) + 1]
    printed = table(SWEEP).drop(columns="seconds")
    for line, row in zip(head[1:], printed.itertuples(index=False), strict=True):
        assert line.split()[0] == row.method
        for value in (row.mean_error, row.median_error, row.q10, row.q90):
            assert f"{value:.6f}" in line


def test_the_page_offers_the_run_and_its_figure_as_files() -> None:
    labels = [b.label for b in open_page().get("download_button")]
    kinds = ["CSV", "JSON", "Python", "Notebook", "HTML", "HTML", "PDF", "PDF"]
    assert [label.split(":")[0] for label in labels] == kinds
    assert labels[-1] == "PDF: the figure as a slide, 16:9"


def test_a_page_of_one_figure_offers_it_as_a_slide() -> None:
    query = {"methods": "sco.noisy-gd", "problem": "quadratic", "trials": "2", "grid": "500,1000"}
    page = check_page(open_at("bounds", **query))
    assert "Slide" in [b.label for b in page.get("download_button")]


def test_the_table_of_numbers_names_the_axis_and_the_budget_spent() -> None:
    printed = numbers(run(SWEEP).outcomes, SWEEP)
    assert list(printed["n"]) == list(table(SWEEP)["x"])
    assert list(printed["Mean error"]) == list(table(SWEEP)["mean_error"])
    spent = dict(zip(printed["Estimator"], printed["Spent"], strict=True))
    assert spent["Sample mean"] == "not private" and spent["Simple clipping"] == "(1, 10⁻⁶)-DP"
    parameters = dict(zip(printed["Estimator"], printed["Parameters"], strict=True))
    assert parameters["Simple clipping"].startswith("clip radius ")
    assert "Remark" not in printed and "x" not in printed


def test_the_table_of_a_refused_method_holds_its_reason() -> None:
    printed = numbers(run(REFUSING).outcomes, REFUSING).set_index("Estimator")
    assert "x" not in printed and math.isnan(printed.loc["Simple clipping", "Mean error"])
    assert "Gaussian noise cannot give pure DP" in printed.loc["Simple clipping", "Remark"]
    assert printed.loc["Simple clipping", "Spent"] == ""


def test_a_pure_method_has_spent_no_delta_in_any_file() -> None:
    scenario = replace(SWEEP, methods=("mean.cwme-pure",), trials=1)
    result = run(scenario)
    assert {o.spent for o in result.outcomes} == {PureDP(epsilon=1.0)}
    assert set(frame(result.outcomes)["spent"]) == {"1-DP"}
    assert set(numbers(result.outcomes, scenario)["Spent"]) == {"1-DP"}
    rows = run_json(scenario, result.outcomes)["results"]
    assert all(row["spent"] == {"kind": "pure", "epsilon": 1.0} for row in rows)


@pytest.mark.parametrize("seconds", [12.4, 61.0])
def test_the_file_with_sliders_states_its_duration_and_refuses_a_long_one(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the estimate, a click could start minutes of work that the visitor could not end."""
    monkeypatch.setattr("dpsco_app.pages.explore.foot.sliders_seconds", lambda *_: seconds)
    page = open_page(trials="2", grid="500,1000")
    (button,) = [b for b in page.get("download_button") if "sliders" in b.label]
    assert button.proto.disabled is (seconds > 60)
    captions = [c.value for c in page.caption if "page with sliders" in c.value]
    assert len(captions) == 1 and f"about {seconds:.0f} s" in captions[0]
    assert ("`dpsco page`" in captions[0]) is (seconds > 60)

"""`dpsco need` answers for several budgets or sizes in one table, as for each alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpsco_core.cli.main import main

SMALL = ("need", "--error", "0.3", "--n", "500", "--d", "2", "--method", "mean.clipped")


def document(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Return the document that a command prints with `--json`."""
    assert main([*words, "--json"]) == 0
    values: dict[str, Any] = json.loads(capsys.readouterr().out)
    return values


def test_several_budgets_have_the_answers_of_each_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = document(capsys, *SMALL, "--epsilon", "0.5,2")
    assert table["varied"] == ["epsilon"]
    assert [row["at"] for row in table["needs"]] == [{"epsilon": 0.5}, {"epsilon": 2.0}]
    for row, epsilon in zip(table["needs"], ("0.5", "2"), strict=True):
        [expected] = document(capsys, *SMALL, "--epsilon", epsilon)["needs"]
        assert expected.items() <= row.items() and row["side"] == "inside"
        assert row["release"]["noise_multiplier_replace_one"] > 0
    assert table["needs"][0]["value"] > table["needs"][1]["value"]


def test_the_table_has_a_row_for_each_method_and_value_within_100_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = (*SMALL, "--method", "mean.adaptive", "--epsilon", "0.5", "2")
    assert main(list(words)) == 0
    lines = capsys.readouterr().out.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("epsilon "))
    assert lines[start].split()[:3] == ["epsilon", "method", "records"]
    rows = [line.split()[:2] for line in lines[start + 1 : start + 5]]
    assert rows == [[e, name] for e in ("0.5", "2") for name in ("Simple", "Adaptive")]
    assert max(map(len, lines)) <= 100
    needs = document(capsys, *words)["needs"]
    for line, row in zip(lines[start + 1 : start + 5], needs, strict=True):
        assert f" {row['value']:.4g} " in line
        floor = max(floor["value"] for floor in row["floors"])
        assert line.split()[-3] == f"{floor:.4g}"


def test_a_budget_is_found_for_several_sizes_and_what_cannot_run_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("need", "--error", "0.3", "--d", "2", "--method", "mean.clipped", "--find", "epsilon")
    words = (*words, "--n", "500", "1000", "--delta", "0,1e-6")
    needs = document(capsys, *words)["needs"]
    assert [tuple(row["at"].values()) for row in needs] == [
        (n, delta) for n in (500, 1000) for delta in (0.0, 1e-6)
    ]
    assert all("Gaussian noise" in row["not_applicable"] for row in needs[::2])
    assert needs[1]["value"] > needs[3]["value"] > 0
    assert main(list(words)) == 0
    text = capsys.readouterr().out
    assert text.count("cannot run\n") == 2
    assert "note: Simple clipping cannot run where the search starts: Gaussian noise" in text


def test_a_fresh_seed_is_drawn_once_for_all_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--epsilon", "1", "2", "--seed", "fresh"]) == 0
    assert capsys.readouterr().err.count("the seed is") == 1


def test_a_table_in_which_no_method_runs_names_what_was_sought(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("need", "--error", "0.3", "--d", "2", "--method", "mean.clipped", "--find", "epsilon")
    assert main([*words, "--delta", "0", "--n", "500", "1000"]) == 0
    text = capsys.readouterr().out
    assert "\nn      method           epsilon" in text and text.count("cannot run\n") == 2


def test_the_value_that_is_found_has_one_start(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--n", "10", "20"]) == 2
    error = capsys.readouterr().err
    assert error == "dpsco: n must be one number where the search for it starts, got n=10,20.\n"
    assert main([*SMALL, "--epsilon", "1,x"]) == 2
    assert "epsilon must be" in capsys.readouterr().err


def test_an_empty_place_in_a_list_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SMALL, "--epsilon", "0.5,,1"]) == 2
    sentence = "epsilon must be a number between all commas, got epsilon=0.5,,1."
    assert sentence in " ".join(capsys.readouterr().err.split())


def test_a_quantile_of_the_error_takes_more_records_than_its_median(
    capsys: pytest.CaptureFixture[str],
) -> None:
    [median] = document(capsys, *SMALL)["needs"]
    [high] = document(capsys, *SMALL, "--quantile", "0.9")["needs"]
    assert (median["quantile"], high["quantile"]) == (0.5, 0.9)
    assert high["low"] > median["value"] and high["side"] == "inside"
    assert main([*SMALL, "--quantile", "0.9"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "for an error of at most 0.3 in 90 % of runs (95 % interval: " in text
    # Runs of their own at the answer: about nine in ten have at most the target.
    words = ["run", "--method", "mean.clipped", "--d", "2", "--n", f"{high['value']:.0f}"]
    assert main([*words, "--trials", "400", "--seed", "5", "--json"]) == 0
    [measured] = json.loads(capsys.readouterr().out)["results"]
    assert measured["quantiles"]["0.9"] == pytest.approx(0.3, rel=0.25)
    assert measured["median_error"] < 0.25
    table = document(capsys, *SMALL, "--quantile", "0.9", "--epsilon", "1,2")["needs"]
    assert table[0]["value"] == high["value"]


@pytest.mark.parametrize("quantile", ["0", "0.99", "nan", "x"])
def test_a_wrong_quantile_is_refused(capsys: pytest.CaptureFixture[str], quantile: str) -> None:
    assert main([*SMALL, "--quantile", quantile]) == 2
    error = capsys.readouterr().err
    assert "quantile must be" in error and error.count("\n") == 1

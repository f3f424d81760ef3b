"""The command `dpsco release`: columns of a file, through the ledger."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpsco_core.cli.main import main

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3000, 2))
LABELS = np.where(RNG.random(3000) < 1 / (1 + np.exp(-4 * X[:, 0])), 1, -1)
HEIGHTS = X @ np.array([0.5, -0.5]) + 0.1 * RNG.standard_normal(3000)


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Write a file of records, the last of them incomplete; return its path."""
    lines = ["a,b,label,height"]
    rows = zip(X, LABELS, HEIGHTS, strict=True)
    lines += [f"{x[0]:.6f},{x[1]:.6f},{label},{height:.6f}" for x, label, height in rows]
    lines.append("n/a,1,1,1")  # This row is left out, since its first number is missing.
    path = tmp_path / "own.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def document(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    """Return the document that `dpsco release --json` prints."""
    assert main(["release", *words, "--json"]) == 0
    result: dict[str, object] = json.loads(capsys.readouterr().out)
    return result


def test_the_command_releases_the_mean_of_two_columns(
    capsys: pytest.CaptureFixture[str], file: str
) -> None:
    flags = (file, "--column", "a", "--column", "b", "--bound", "2", "--epsilon", "2")
    flags += ("--unit", "1")
    result = document(capsys, *flags, "--method", "mean.clipped")
    assert np.allclose(result["value"], 0.0, atol=0.3) and result["columns"] == ["a", "b"]
    assert result["spent"] == {"kind": "approx", "epsilon": 2.0, "delta": 1e-6}
    assert isinstance(result["interval"], float) and len(result["ledger"]) == 1
    assert any("3,000, is taken for public" in note for note in result["notes"])
    assert main(["release", *flags]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "warning: A research release" in text and "neighbours: one row is replaced" in text
    assert max(map(len, text.splitlines())) > 0


def test_what_is_exact_about_the_file_stands_apart_from_the_private_answer(
    capsys: pytest.CaptureFixture[str], file: str
) -> None:
    flags = (file, "--column", "a", "--bound", "2", "--unit", "1", "--method", "mean.clipped")
    result = document(capsys, *flags)
    assert any("n/a" in note for note in result["reading"])
    assert not any("n/a" in note for note in result["notes"])
    assert main(["release", *flags]) == 0
    printed = capsys.readouterr()
    assert "n/a" not in printed.out and "exact and not private: " in printed.err
    # The interval of one column has two ends.
    assert "95 % interval: -" in printed.out and " to 0." in printed.out


def test_a_target_needs_a_problem_before_anything_is_spent(
    capsys: pytest.CaptureFixture[str], file: str
) -> None:
    flags = ("--column", "a", "--target", "height", "--bound", "2")
    assert main(["release", file, *flags]) == 2
    assert "problem must be given with --target" in capsys.readouterr().err


def test_columns_of_different_size_have_bounds_and_units_of_their_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """One unit for both columns once clipped the large column and drowned the small one
    in noise.
    """
    path = tmp_path / "pay.csv"
    rows = [f"{30_000 * (1 + x):.2f},{40 + 10 * y:.2f}" for x, y in X]
    path.write_text("\n".join(["income,age", *rows]), encoding="utf-8")
    flags = (str(path), "--column", "income", "--column", "age", "--method", "mean.clipped")
    flags += ("--bound", "60000", "--bound", "80", "--unit", "30000", "--unit", "10")
    result = document(capsys, *flags)
    income, age = result["value"]
    assert abs(income - 30_000) < 6 * result["noise"][0] < 15_000
    assert abs(age - 40) < 6 * result["noise"][1] < 5
    assert result["interval"][0] == pytest.approx(3000 * result["interval"][1])
    assert main(["release", *flags]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["column", "mean", "noise", "(sd)", "95", "%", "interval"]
    assert [line for line in lines if len(line) > 100] == []
    assert main(["release", *flags, "--unit", "1"]) == 2
    message = "unit must be given once, or once for each of the 2 columns, got 3 of them."
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("target", "problem", "direction"),
    [("label", "logistic", (1.0, 0.0)), ("height", "least-squares", (1.0, -1.0))],
)
def test_the_command_releases_a_regression_on_columns(
    capsys: pytest.CaptureFixture[str],
    file: str,
    target: str,
    problem: str,
    direction: tuple[float, float],
) -> None:
    flags = (file, "--column", "a", "--column", "b", "--target", target, "--problem", problem)
    result = document(capsys, *flags, "--bound", "2", "--epsilon", "8")
    value = np.array(result["value"])
    cosine = value @ np.array(direction) / np.linalg.norm(value) / np.linalg.norm(direction)
    assert cosine > 0.9 and result["interval"] is None


def test_a_regression_with_an_intercept_has_units_and_bounds_for_columns(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "pay.csv"
    rows = [
        f"{40 + 10 * x:.3f},{1000 * y:.1f},{3 * x - 2 * y + 20 + e:.3f}"
        for x, y, e in np.column_stack([X, RNG.standard_normal(3000)])
    ]
    path.write_text("\n".join(["age,income,hours", *rows]), encoding="utf-8")
    flags = [str(path), "--column", "age", "--column", "income", "--target", "hours"]
    flags += ["--problem", "least-squares", "--intercept", "--epsilon", "50", "--target-unit", "5"]
    flags += ["--unit", "10", "--unit", "1000", "--centre", "40", "--centre", "0"]
    bounds = ["--bound", "1", "--bound", "0.01", "--bound", "50"]
    result = document(capsys, *flags, *bounds)
    age, income = result["value"]
    assert age == pytest.approx(0.3, abs=0.1) and income == pytest.approx(-0.002, abs=0.001)
    assert result["intercept"] + 40 * age == pytest.approx(20, abs=2)
    assert main(["release", *flags, *bounds]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["column", "age", "income", "(intercept)"]
    assert [line for line in lines if len(line) > 100] == []
    assert main(["release", *flags, *bounds[:4]]) == 2
    message = "bound must be given once, or once for each of the 2 columns and for the intercept, "
    assert message in capsys.readouterr().err


def test_every_line_fits_and_two_runs_differ(capsys: pytest.CaptureFixture[str], file: str) -> None:
    texts = []
    for _ in range(2):
        assert main(["release", file, "--column", "a", "--bound", "1", "--rho", "0.5"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] != texts[1]
    assert [line for line in texts[0].splitlines() if len(line) > 100] == []


def test_invalid_flags_of_a_release_are_refused(
    capsys: pytest.CaptureFixture[str], file: str
) -> None:
    for words, message in (
        ((file, "--column", "c", "--bound", "1"), "c"),
        ((file, "--column", "a", "--bound", "x"), "bound must be"),
        ((file, "--column", "a", "--bound", "-1"), "bound must be a finite number above 0"),
        ((file, "--column", "a", "--bound", "1", "--problem", "logistic"), "a pair of features"),
        (
            (file, "--column", "a", "--column", "b", "--target", "a", "--bound", "1"),
            "target must be another column than those of --column, got target=a.",
        ),
    ):
        assert main(["release", *words]) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1


@pytest.fixture
def visits(tmp_path: Path) -> str:
    """Write a file of 800 users with 1 to 5 rows each, and a row without one; return its path."""
    rng = np.random.default_rng(1)
    lines = ["who,pay"]
    for user, mean in enumerate(rng.normal(10.0, 1.0, 800)):
        lines += [f"u{user},{mean + rng.normal():.4f}" for _ in range(rng.integers(1, 6))]
    lines.append(",10")
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_the_command_hides_all_rows_of_one_user(
    capsys: pytest.CaptureFixture[str], visits: str
) -> None:
    flags = (visits, "--column", "pay", "--user", "who", "--items", "3", "--unit", "2")
    flags += ("--centre", "10", "--bound", "4", "--method", "user.mean-clipped")
    result = document(capsys, *flags)
    assert result["neighbours"] == "replace one user"
    [value], [noise] = result["value"], result["noise"]  # type: ignore[misc]
    assert abs(value - 10) < 0.2 + 6 * noise and noise > 0
    assert any("number of users, 800, is taken for public" in note for note in result["notes"])  # type: ignore[attr-defined]
    assert main(["release", *flags]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "all rows of one user are replaced" in text and "the users are independent" in text
    # The same numbers as one row a user need no more noise than 3 rows that are alike.
    single = document(capsys, *(w if w != "3" else "1" for w in flags))
    assert single["noise"][0] == pytest.approx(noise, rel=0.2)  # type: ignore[index]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--user", "who"), "items must be given with --user"),
        (("--items", "3"), "items must be left out without --user"),
        (("--alike", "0.5"), "alike must be left out without --user"),
        (("--user", "pay", "--items", "3"), "user must be another column"),
        (("--user", "whom", "--items", "3"), "user must be one of"),
        (("--user", "who", "--items", "0"), "items must be"),
        (("--user", "who", "--items", "2.5"), "items must be"),
    ],
)
def test_a_wrong_user_is_refused_in_one_sentence(
    capsys: pytest.CaptureFixture[str], visits: str, words: tuple[str, ...], message: str
) -> None:
    assert main(["release", visits, "--column", "pay", "--bound", "20", *words]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_plan_reads_the_shape_alone_and_says_what_the_release_does(
    capsys: pytest.CaptureFixture[str], file: str, visits: str, tmp_path: Path
) -> None:
    flags = ("--column", "a", "--bound", "2", "--unit", "1", "--method", "mean.clipped")
    plan = document(capsys, file, *flags, "--plan")
    result = document(capsys, file, *flags)
    assert plan["interval"] == result["interval"] and plan["noise"] == result["noise"]
    assert plan["shape"] == {"n": 3000, "d": 1, "m": None} and "value" not in plan
    other = tmp_path / "other.csv"
    other.write_text("\n".join(["a", *(f"{1e6 + i}" for i in range(3000))]), encoding="utf-8")
    assert document(capsys, str(other), *flags, "--plan") == plan
    users = ("--column", "pay", "--user", "who", "--items", "3", "--bound", "20", "--plan")
    assert main(["release", visits, *users]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "neighbours replace one user" in text and "(800, 3, 1)" in text
    assert "nothing is released and nothing spent" in text

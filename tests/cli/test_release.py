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
    lines = ["a,b,label,height"]
    rows = zip(X, LABELS, HEIGHTS, strict=True)
    lines += [f"{x[0]:.6f},{x[1]:.6f},{label},{height:.6f}" for x, label, height in rows]
    lines.append("n/a,1,1,1")  # left out
    path = tmp_path / "own.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def document(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert main(["release", *words, "--json"]) == 0
    result: dict[str, object] = json.loads(capsys.readouterr().out)
    return result


def test_the_mean_of_two_columns(capsys: pytest.CaptureFixture[str], file: str) -> None:
    flags = (file, "--column", "a", "--column", "b", "--bound", "2", "--epsilon", "2")
    result = document(capsys, *flags, "--method", "mean.clipped")
    assert np.allclose(result["value"], 0.0, atol=0.3) and result["columns"] == ["a", "b"]
    assert result["spent"] == {"kind": "approx", "epsilon": 2.0, "delta": 1e-6}
    assert isinstance(result["interval"], float) and len(result["ledger"]) == 1
    assert any("3,000, is taken for public" in note for note in result["notes"])
    assert main(["release", *flags]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "warning: A research release" in text and "neighbours: one row is replaced" in text
    assert max(map(len, text.splitlines())) > 0


@pytest.mark.parametrize(
    ("target", "problem", "direction"),
    [("label", "logistic", (1.0, 0.0)), ("height", "least-squares", (1.0, -1.0))],
)
def test_a_regression_on_columns(
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


def test_every_line_fits_and_two_runs_differ(capsys: pytest.CaptureFixture[str], file: str) -> None:
    texts = []
    for _ in range(2):
        assert main(["release", file, "--column", "a", "--bound", "1", "--rho", "0.5"]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] != texts[1]
    assert [line for line in texts[0].splitlines() if len(line) > 100] == []


def test_what_is_missing_is_said(capsys: pytest.CaptureFixture[str], file: str) -> None:
    for words, message in (
        ((file, "--column", "c", "--bound", "1"), "c"),
        ((file, "--column", "a", "--bound", "x"), "bound must be"),
        ((file, "--column", "a", "--bound", "-1"), "bound must be a finite number above 0"),
        ((file, "--column", "a", "--bound", "1", "--problem", "logistic"), "a pair of features"),
    ):
        assert main(["release", *words]) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1

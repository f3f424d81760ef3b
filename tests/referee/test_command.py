"""The command prints within its width, writes JSON and HTML, and refuses in one sentence."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.catalogue import BOUND_SLUGS, bound
from dpsco_core.cli import referee as command
from dpsco_core.cli.main import main
from dpsco_core.plugins.extend import Addition, OwnFile
from dpsco_core.referee.claims import submission_of_files
from tests.folded import one_in

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
CLAIMS = """
from dpsco_core.referee.inequality import Inequality, Requirement, VariableRange

CLAIMS = (
    Inequality(
        slug="{slug}",
        text="1 - 1/x is at most {most}",
        smaller=lambda x: 1 - 1 / x,
        larger=lambda x: {most},
        ranges={{"x": VariableRange(low=1, high=100)}},
        hypotheses=(Requirement(text="x > 1", holds=lambda x: x > 1),),
    ),
)
"""


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run `dpsco referee`, which must refuse; return its one line of error."""
    assert main(("referee", *words)) == 2
    error = capsys.readouterr().err
    assert error.startswith("dpsco: ") and error.count("\n") == 1
    return error


def test_a_file_of_claims_is_refereed_as_text_json_and_html(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = tmp_path / "claims.py", tmp_path / "report.html"
    file.write_text(CLAIMS.format(slug="half", most=0.5), encoding="utf-8")
    assert main(("referee", str(file), "--seconds", "5", "--html", str(page))) == 0
    text = capsys.readouterr().out
    assert " ".join(text.split()).endswith(f"Written: {page}.")
    assert text.startswith("half: refuted\nClaim: 1 - 1/x is at most 0.5\nIf: x > 1\n")
    assert "correct" not in text
    markup = page.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in markup and "@media print" in markup
    assert "http" not in markup and 'class="verdict bad">refuted' in markup
    assert main(("referee", str(file), "--seconds", "5", "--json", "--fail-if-refuted")) == 1
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    assert report["verdict"] == "refuted" and report["checks"][0]["command"].startswith("dpsco")
    file.write_text(CLAIMS.format(slug="whole", most=1.0), encoding="utf-8")
    assert main(("referee", str(file), "--seconds", "5", "--fail-if-refuted")) == 0
    assert capsys.readouterr().out.startswith("whole: not refuted\n")


@pytest.mark.parametrize("ending", one_in(2, ["html", "pdf", "json"]))
def test_a_report_is_written_as_its_ending_says(
    ending: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, target = tmp_path / "claims.py", tmp_path / f"report.{ending}"
    file.write_text(CLAIMS.format(slug="half", most=0.5), encoding="utf-8")
    assert main(("referee", str(file), "--seconds", "5", "--json", "--out", str(target))) == 0
    reports = json.loads(capfd.readouterr().out)["reports"]
    content = target.read_bytes()
    if ending == "json":
        assert json.loads(content)["reports"] == reports
    else:
        start = {"html": b"<!doctype html>", "pdf": b"%PDF"}[ending]
        assert content.startswith(start) and b"half" in content


def test_a_file_for_the_report_is_refused_before_the_claim_is_looked_at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    formula = ("--method", "mean.clipped", "--claim", "1/n")
    monkeypatch.setattr(command, "referee", None)
    assert "out must be a file that ends in .html, .pdf, .json, got out=report.txt." in refused(
        capsys, *formula, "--out", "report.txt"
    )
    for flag in ("--out", "--html"):
        target = str(tmp_path / "missing" / "report.html")
        assert "cannot be written" in refused(capsys, *formula, flag, target)
    monkeypatch.setattr(command, "_has_figures", lambda: False)
    assert "extra 'app'" in refused(capsys, *formula, "--out", str(tmp_path / "report.pdf"))


def test_a_typed_formula_is_refereed_within_the_width(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--method", "mean.clipped", "--claim", "d/n", "--if", "n >= 2*d", "--seconds", "1")
    assert main(("referee", *words, "--n", "200", "--d", "2")) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[0] == "upper.claim: refuted"
    prose = [line for line in text.splitlines() if "dpsco " not in line]
    assert max(map(len, prose)) <= 100
    for name in ("Hypotheses", "Against lower bounds", "Measured over claimed", "Slopes"):
        assert f"\n{name}: " in text
    assert "\nOptimality: " in text and "\nPrivacy: " in text


def test_an_invalid_claim_is_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file.py"
    file.write_text("CLAIMS = (1,)", encoding="utf-8")
    assert "CLAIMS must hold objects of the class Inequality" in refused(capsys, str(file))
    file.write_text("1 / 0", encoding="utf-8")
    assert "ZeroDivisionError in line 1" in refused(capsys, str(file))
    file.write_text("DISTRIBUTIONS = ()", encoding="utf-8")
    assert "METHODS, BOUNDS or CLAIMS" in refused(capsys, str(file))
    broken = CLAIMS.format(slug="broken", most="unknown_name")
    file.write_text(broken, encoding="utf-8")
    assert "NameError" in refused(capsys, str(file))
    formula = ("--method", "mean.clipped", "--claim")
    assert "got foo" in refused(capsys, *formula, "foo/n")
    assert "if must be two formulas" in refused(capsys, *formula, "1/n", "--if", "n")
    assert "method must be a single one" in refused(capsys, "--claim", "1/n")
    assert "file must be given" in refused(capsys)
    assert "guarantee must be" in refused(capsys, *formula, "1/n", "--guarantee", "surely")
    assert "seconds must be" in refused(capsys, *formula, "1/n", "--seconds", "-1")


@pytest.mark.parametrize(
    ("factor", "verdict", "times"), one_in(2, [("", "refuted", 2), ("2 * ", "not refuted", 1)])
)
def test_a_sensitivity_that_is_too_small_is_caught_with_its_neighbours(
    tmp_path: Path, factor: str, verdict: str, times: int
) -> None:
    """The method is the mean of the page on plugins with half of its sensitivity, run in a process
    of its own.
    """
    page = Path(__file__).resolve().parents[2] / "docs" / "extend.md"
    (text,) = (t for t in PYTHON.findall(page.read_text("utf-8")) if t.startswith("# my_mean.py"))
    assert "2 * radius / rows.n" in text
    file = tmp_path / "my_mean.py"
    file.write_text(text.replace("2 * radius / rows.n", f"{factor}radius / rows.n"), "utf-8")
    command = [sys.executable, "-m", "dpsco_core.cli.main", "referee", str(file), "--json"]
    finished = subprocess.run(
        [*command, "--seconds", "2"], capture_output=True, text=True, check=True
    )
    (report,) = json.loads(finished.stdout)["reports"]
    assert report["verdict"] == verdict
    (check,) = report["checks"]
    assert check["rows"][0][1].startswith(f"{times} times")


def test_a_bound_without_hypotheses_is_refused() -> None:
    """The bound is not loaded here, since the catalogue would keep it for later tests."""
    addition = Addition(bounds=(replace(bound(BOUND_SLUGS[0]), hypotheses=()),))
    with pytest.raises(InvalidInput, match="^hypotheses must be at least one condition"):
        submission_of_files([(OwnFile("bare.py", ""), addition)])

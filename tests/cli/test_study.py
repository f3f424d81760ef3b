"""`dpsco study`: what it says when it is stopped, when it goes on, and while it runs."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from dpsco_core.cli import study as cli_study
from dpsco_core.cli.main import main
from dpsco_core.cli.tools import MOST_COLUMNS
from dpsco_core.runs.executors import run_study
from dpsco_core.runs.store import Store
from dpsco_core.runs.study import Outcome
from dpsco_core.scenario import Scenario

STUDY = """
methods = ["mean.sample", "mean.clipped", "mean.smoothed"]
n = 200
d = 2
trials = 2
axis = "epsilon"
grid = [0.5, 1.0]
"""


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    """Return the words of the command that runs a study of 12 runs."""
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    return ("study", str(tmp_path / "study.toml"), "--out", str(tmp_path / "part.sqlite"))


def stopped_after(monkeypatch: pytest.MonkeyPatch, runs: int) -> None:
    """Make a study stop as if Ctrl-C arrived after a number of runs."""

    def stop_early(scenario: Scenario, workers: int, store: Store) -> Iterator[Outcome]:
        """Yield some outcomes of a study, and press Ctrl-C."""
        yield from islice(run_study(scenario, workers, store), runs)
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_study, "run_study", stop_early)


def test_a_stopped_study_says_what_is_stored_and_resumes_from_there(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patches:
        stopped_after(patches, 5)
        assert main(words) == 130
    printed = capsys.readouterr()
    assert not printed.out
    assert printed.err.splitlines()[-1] == (
        f"Stopped: 5 of 12 runs are in {words[-1]}; the same command goes on from there."
    )
    with Store(words[-1], read_only=True) as store:
        assert len(store) == 5
    assert main((*words, "--json")) == 0
    printed = capsys.readouterr()
    assert printed.err.splitlines() == ["5 of 12 runs were there already.", "7 runs to do."]
    assert json.loads(printed.out)["results"]
    assert main(words) == 0
    assert capsys.readouterr().err == "12 of 12 runs were there already.\n"


@pytest.mark.parametrize("place", ["flag", "file"])
def test_a_stopped_study_with_a_fresh_seed_names_the_seed_to_go_on_with(
    words: tuple[str, ...],
    place: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if place == "file":
        Path(words[1]).write_text(STUDY + 'seed = "fresh"\n', encoding="utf-8")
    with monkeypatch.context() as patches:
        stopped_after(patches, 5)
        assert main((*words, "--seed", "fresh") if place == "flag" else words) == 130
    (seed,) = re.findall(r"the same command with --seed (\d+) goes on", capsys.readouterr().err)
    assert main((*words, "--seed", seed)) == 0
    assert capsys.readouterr().err.startswith("5 of 12 runs were there already.\n")


def test_a_study_whose_standard_error_is_a_file_prints_its_progress_line_by_line(
    words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli_study, "REPORT_EVERY", 0.0)
    assert main(words) == 0
    start_line, *rest = capsys.readouterr().err.splitlines()
    assert start_line == "12 runs to do."
    lines = [re.fullmatch(r"(\d+) of 12 runs, about \d+ s left", line) for line in rest]
    assert [int(line[1]) for line in lines if line] == list(range(1, 13))


def test_the_table_of_a_study_fits_a_line_and_is_that_of_a_run(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    text = capsys.readouterr().out
    *lines, _ = text.splitlines()  # The last line has the name of the file.
    assert max(map(len, lines)) <= MOST_COLUMNS
    assert re.search(r"^method +epsilon +mean +10-90 % +price \(95 %\)$", text, re.MULTILINE)
    assert text.endswith(f"\n12 runs of this study are in {words[-1]}.\n")
    methods = [f"--method={slug}" for slug in ("mean.sample", "mean.clipped", "mean.smoothed")]
    sizes = ("--n=200", "--d=2", "--trials=2", "--axis=epsilon", "--grid=0.5,1")
    assert main(("run", *methods, *sizes)) == 0
    without_times = [
        line.rsplit(maxsplit=1)[0].rstrip()
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("method ", "Sample mean ", "Simple clipping "))
    ]
    assert len(without_times) >= 5
    assert set(without_times[:5]) <= {line.rstrip() for line in text.splitlines()}

"""From a file to a run to a release: every command that is printed works, in one scale."""

from __future__ import annotations

import argparse
import inspect
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from dpsco_core import Scenario, release
from dpsco_core.cli.main import COMMANDS, _build_parser, main
from dpsco_core.results.commands import MOST_NAMED, release_words

TWO_TRIALS = ("--trials", "2", "--workers", "1")
RNG = np.random.default_rng(3)
PAY = 30_000 + 9000 * RNG.standard_t(3, size=600)
AGE = 40 + 10 * RNG.standard_normal(600)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder, the working one, with a file of two columns."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{pay:.2f},{age:.1f}" for pay, age in zip(PAY, AGE, strict=True)]
    (tmp_path / "my pay.csv").write_text("\n".join(["net pay,-age", *rows]), encoding="utf-8")
    return tmp_path


def commands(text: str) -> list[list[str]]:
    """Return the words of every command that a text shows on lines of its own."""
    whole = text.replace(" \\\n", " ")
    return [shlex.split(line) for line in whole.splitlines() if line.startswith("  dpsco ")]


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return what a command prints, none of its lines too long."""
    assert main(words) == 0, words
    text = capsys.readouterr().out
    assert [line for line in text.splitlines() if len(line) > 100] == []
    return text


@pytest.mark.parametrize("columns", [("net pay",), ("net pay", "-age")])
def test_tail_ends_with_a_run_and_a_release_that_work(
    folder: Path, columns: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, "tail", "my pay.csv", *(f"--column={name}" for name in columns))
    run, released = commands(text)
    assert run[:2] == ["dpsco", "run"] and released[:3] == ["dpsco", "release", "my pay.csv"]
    flags = dict(zip(run[2:10:2], run[3:11:2], strict=True))
    assert run[2] == "--distribution"
    assert flags["--distribution"] == "student-t" and flags["--n"] == "600"
    assert flags["--d"] == str(len(columns)) and released[-1] == flags["--p"]
    assert "this answer is not private" in " ".join(text.split())
    run_text = printed(capsys, *run[1:], *TWO_TRIALS)
    assert commands(run_text)[-1][1] == "release"
    answer = printed(capsys, *released[1:])
    mean = float(answer.splitlines()[1].removeprefix("net pay").split()[0].replace(",", ""))
    assert abs(mean - PAY.mean()) < 3000


def test_run_and_release_of_one_column_have_one_bound_and_one_unit(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, released = commands(printed(capsys, "tail", "my pay.csv", "--column", "net pay"))
    lengths = [word for word in run if word.startswith(("--bound", "--unit"))]
    assert len(lengths) == 2 and set(lengths) < set(released)
    run_text = printed(capsys, *run[1:], *TWO_TRIALS)
    assert set(lengths) < set(commands(run_text)[-1])
    unit = float(lengths[1].partition("=")[2])
    assert f"1 in these tables is {unit:,.0f} in the unit of your data" in run_text


SETTINGS: dict[str, tuple[str, ...]] = {
    "mean": ("--d", "1", "--p", "2.5", "--method", "mean.clipped"),
    "heavy": ("--d", "2", "--p", "1.6", "--rho", "0.5", "--method", "mean.clipped"),
    "axis": ("--d", "2", "--axis", "n", "--grid", "500,900", "--method", "mean.cwme-cdp"),
    "points": ("--problem", "quadratic", "--d", "2", "--method", "sco.cwme"),
    "labels": ("--problem", "logistic", "--d", "2", "--p", "2", "--method", "sco.clipped"),
    "numbers": ("--problem", "huber", "--d", "2", "--p", "2", "--method", "sco.clipped"),
    "long": ("--d", "7", "--method", "mean.adaptive", "--method", "mean.clipped"),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_run_ends_with_a_release_by_the_method_that_won(
    setting: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    text = printed(capsys, "run", "--n", "800", *SETTINGS[setting], *TWO_TRIALS)
    assert "advice: " in text
    [released] = commands(text)
    if setting == "long":
        assert released[1] == "about" and released[2] in SETTINGS["long"]
        assert "answer = release(" in printed(capsys, *released[1:])
        return
    rows = RNG.standard_normal((800, 3))
    table = np.column_stack([rows, np.sign(rows[:, 1] + rows[:, 2])])
    np.savetxt("data.csv", table, delimiter=",", header="x,x1,x2,y", comments="", fmt="%.4f")
    assert released[released.index("--method") + 1] == SETTINGS[setting][-1]
    answer = printed(capsys, *released[1:])
    assert f"{SETTINGS[setting][-1]} has spent" in answer
    left = re.search(r"by default: (.*?)\.\n", answer, re.DOTALL)
    assert left is not None and left[1] == "--centre 0"


def test_a_run_that_release_cannot_repeat_names_no_command() -> None:
    for point, method in (
        (Scenario(d=2), "mean.sample"),
        (Scenario(d=2, problem="quadratic", m=5), "user.clipped-means"),
        (Scenario(d=2, problem="quadratic", geometry="l1"), "sco.cwme"),
        (Scenario(d=2, problem="logistic", p=1.5), "sco.clipped"),
    ):
        assert release_words(point, method) == []
    assert release_words(Scenario(d=MOST_NAMED), "mean.clipped")[1] == "release"
    assert release_words(Scenario(d=MOST_NAMED + 1), "mean.clipped")[1] == "about"


def test_release_says_what_it_took_by_default(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("release", "my pay.csv", "--column", "net pay", "--bound", "60000")
    text = " ".join(printed(capsys, *words, "--epsilon", "2").split())
    assert (
        "by default: --method mean.adaptive, --delta 1e-06, --p 2 (the unit bounds the standard "
        "deviation), --unit 1, --centre 0." in text
    )
    text = printed(capsys, *words, "--rho", "0.1", "--p", "3", "--unit", "20000")
    assert "by default: --method mean.adaptive, --centre 0.\n" in text


def flag_help(command: str, flag: str) -> str:
    """Return the help of a command's flag, on one line."""
    parser = _build_parser([command])
    [kinds] = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    [action] = [a for a in kinds.choices[command]._actions if flag in a.option_strings]
    return str(action.help)


def test_a_default_of_release_is_that_of_a_scenario_or_its_help_says_why() -> None:
    defaults = {k: v.default for k, v in inspect.signature(release).parameters.items()}
    # Users' records may be dependent, so that `alike` is 1 with users, and None without.
    shared = {name for name in defaults if hasattr(Scenario, name)} - {"problem", "alike"}
    assert {"epsilon", "delta", "rho", "p"} <= shared
    differing = {name for name in shared if defaults[name] != getattr(Scenario, name)}
    assert differing == {"p"}
    for name in shared - {"rho"}:
        assert f"(default {defaults[name]:g}" in flag_help("release", f"--{name}")
    words = flag_help("release", "--p")
    assert "standard deviation" in words and f"`dpsco run` has {Scenario.p:g}" in words


def spellings(field: str) -> tuple[str, ...]:
    """Return the texts in which the help of a command may state the default of a field."""
    value = getattr(Scenario, field)
    return (str(value), f"{value:g}") if isinstance(value, int | float) else (str(value),)


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "app"])
def test_every_default_that_a_command_states_for_a_field_is_that_of_a_scenario(
    command: str,
) -> None:
    """`release` differs in p and alike, and `fano` in its sizes; their helps say why."""
    parser = _build_parser([command])
    [kinds] = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    stated = {
        action.dest: match[1]
        for action in kinds.choices[command]._actions
        if (match := re.search(r"\(default ([^),]+)", action.help or ""))
        and getattr(Scenario, action.dest, None) is not None
    }
    differing = {k for k, text in stated.items() if text not in spellings(k)}
    allowed = {"release": {"p", "alike"}, "fano": {"n", "d", "p", "distribution"}}
    if command == "fano":
        words = " ".join(str(kinds.choices[command].description).split())
        assert "a scene of the page Lower bounds" in words and "`dpsco run` has others" in words
    assert differing <= allowed.get(command, set())


def test_bound_and_unit_are_the_diameter_in_the_unit_of_the_data(
    capsys: pytest.CaptureFixture[str],
) -> None:
    base = ("run", "--n", "500", "--d", "2", "--method", "mean.clipped", *TWO_TRIALS, "--json")
    lengths = ("--bound", "60000", "--unit", "20000")

    def results(*words: str) -> str:
        """Return the JSON of a run without its times."""
        assert main([*base, *words]) == 0
        return re.sub(r'"seconds": [^,]*,', "", capsys.readouterr().out)

    assert results(*lengths) == results("--diameter", "6")
    assert results("--bound", "0.5") == results("--diameter", "1", "--offset", "0.5")


def test_lengths_that_do_not_fit_are_refused_by_their_own_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words, message in (
        (("--bound", "2", "--diameter", "4"), "bound must be left out beside diameter"),
        (("--bound", "1e9"), "bound must be at least 5e-07 and at most 500000 times the unit"),
        (("--bound", "x"), "bound must be"),
        (("--unit", "-1"), "unit must be a finite number above 0, got unit=-1"),
        (
            ("--unit", "2", "--problem", "logistic"),
            "unit must be left out for the problem logistic",
        ),
    ):
        assert main(["run", *words]) == 2
        error = capsys.readouterr().err
        assert message in error and error.count("\n") == 1

"""The command line: numbers that repeat, JSON that parses, and one sentence for bad input."""

from __future__ import annotations

import ast
import importlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dpsco_core
from dpsco_core import __version__
from dpsco_core.base.parsing import describe_choices
from dpsco_core.catalogue import (
    BOUND_SLUGS,
    DISTRIBUTION_SLUGS,
    METHOD_SLUGS,
    PROBLEM_SLUGS,
    bounds_for,
    default_methods,
    method_card,
    methods_for,
    problem_card,
    problem_class,
)
from dpsco_core.cli import run as cli_run
from dpsco_core.cli.main import COMMANDS, _build_parser, main
from dpsco_core.explain.hardest import hardest_bound
from dpsco_core.results import report
from dpsco_core.scenario import Scenario
from tests.golden_sentences import GOLDEN

ROOT = Path(__file__).resolve().parents[2]
SMALL = ("--n", "200", "--d", "3", "--trials", "2")
LIST = ("catalogue", "--json")
ACCEPTANCE = (
    *("run", "--problem", "mean", "--method", "mean.clipped", "--method", "mean.cwme-cdp"),
    *("--n", "10000", "--d", "20", "--p", "3", "--epsilon", "1", "--delta", "1e-6"),
    *("--trials", "20", "--seed", "0", "--json"),
)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command, which must succeed without a message; return what it prints."""
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command, which must refuse in one line and print nothing; return the line."""
    try:
        status = main(arguments)
    except SystemExit as stop:
        status = int(str(stop.code))
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    line = captured.err
    assert line.endswith(".\n")
    assert line.count("\n") == 1
    return line.rstrip("\n")


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, with warnings as errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "dpsco_core.cli.main", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def without_seconds(text: str) -> str:
    """Return a JSON text without the running times in it."""
    return re.sub(r'"seconds": [^,]*,', "", text)


def test_the_same_command_gives_the_same_numbers_in_another_process(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = command(*ACCEPTANCE)
    assert (output.returncode, output.stderr) == (0, "")
    assert without_seconds(output.stdout) == without_seconds(printed(capsys, *ACCEPTANCE))
    document = json.loads(output.stdout)
    assert [row["method"] for row in document["results"]] == ["mean.clipped", "mean.cwme-cdp"]
    for row in document["results"]:
        assert row["trials"] == 20
        assert 0 < row["mean_error"] < 2
        assert row["spent"] == {"kind": "approx", "epsilon": 1, "delta": 1e-6}
        assert row["not_applicable"] is None
    assert document["scenario"]["methods"] == ["mean.clipped", "mean.cwme-cdp"]


def test_bad_input_ends_a_process_with_status_2_and_one_sentence() -> None:
    process = command("run", "--n", "0")
    assert (process.returncode, process.stdout) == (2, "")
    expected = "dpsco: n must be an integer between 1 and 1,000,000,000, got n=0.\n"
    assert process.stderr == expected


def imported_by(code: str, *libraries: str) -> set[str]:
    """Return which of the libraries a process has imported after it has run some code."""
    report = f"import sys; sys.stderr.write(' '.join({ {*libraries} } & {{*sys.modules}}))"
    process = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return {*process.stderr.split()}


def test_the_help_imports_no_large_library() -> None:
    code = "from dpsco_core.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass"
    assert imported_by(code, "numpy", "scipy", "pandas", "dpsco_core.catalogue") == set()


def test_a_small_run_waits_for_no_library_that_it_does_not_need() -> None:
    """Each of these libraries takes longer to import than the run takes itself."""
    code = "from dpsco_core.cli.main import main\nmain(['run', '--n=100', '--d=2', '--trials=2'])"
    unneeded = ("pandas", "scipy.stats", "scipy.interpolate", "matplotlib", "distributed")
    unneeded += ("scipy.optimize", "scipy.fft", "scipy.sparse", "scipy.linalg", "tomllib")
    assert imported_by(code, *unneeded, "numpy") == {"numpy"}


def test_a_public_name_is_imported_from_the_module_that_the_types_name() -> None:
    """Editors and type checkers read these imports, so they must be the ones that are made."""
    source = Path(dpsco_core.__file__).read_text(encoding="utf-8")
    (block,) = (node for node in ast.parse(source).body if isinstance(node, ast.If))
    for_types = {
        alias.name: (node.module or "").removeprefix("dpsco_core.")
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert for_types == dpsco_core.MODULES
    assert sorted(dpsco_core.__all__) == sorted(for_types)
    assert all(getattr(dpsco_core, name) is not None for name in for_types)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        dpsco_core.nothing  # noqa: B018, the access is the test


# The output of the first case exceeds a buffer, and that of the second does not, so nothing of it
# is written before the end.
@pytest.mark.parametrize("arguments", [pytest.param(LIST, marks=pytest.mark.slow), ("run", *SMALL)])
def test_a_closed_pipe_causes_no_error(arguments: tuple[str, ...]) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "dpsco_core.cli.main", *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONUNBUFFERED": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("arguments", [LIST, pytest.param(("bounds",), marks=pytest.mark.slow)])
def test_output_that_cannot_be_written_is_one_sentence(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w", encoding="ascii") as full:
        process = subprocess.run(
            [sys.executable, "-m", "dpsco_core.cli.main", *arguments],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert process.returncode == 2
    assert process.stderr == GOLDEN["a full disk"]


def test_the_catalogue_lists_every_row(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "catalogue")
    for slug in (*METHOD_SLUGS, *PROBLEM_SLUGS, *DISTRIBUTION_SLUGS, *BOUND_SLUGS):
        assert re.search(rf"^{re.escape(slug)} ", text, re.MULTILINE)
    catalogue = json.loads(printed(capsys, "catalogue", "--json"))
    assert [row["slug"] for row in catalogue["methods"]] == list(METHOD_SLUGS)


def test_a_run_prints_every_method_and_every_explicit_lower_bound(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chosen = [part for slug in methods_for("mean") for part in ("--method", slug)]
    text = printed(capsys, "run", "--all", *SMALL, *chosen)
    assert text.startswith("l2 error of the mean, ")
    for slug in methods_for("mean"):
        assert re.search(rf"^{re.escape(method_card(slug).name)} +[\d.]+ ", text, re.MULTILINE)
    assert "2 trials, (1, 1e-06)-DP, replace-one" in text
    assert "lower.mean.hypercube-cdp" in text
    # The one upper bound is the best one, which the promise states.
    assert text.count("upper.") == 1
    assert "Slope" not in text


@pytest.mark.parametrize("problem", ["mean", "logistic"])
def test_the_bounds_of_a_run_fit_into_100_columns_and_say_that_they_are_worst_cases(
    capsys: pytest.CaptureFixture[str], problem: str
) -> None:
    words = ("--problem", problem, "--axis", "n", "--grid", "200,400,800")
    text = printed(capsys, "run", "--all", *SMALL, *words)
    bounds = text[text.index("\nbound ") :].splitlines()
    assert [line for line in bounds if len(line) > 100 and not line.startswith("note: ")] == []
    assert text.count("does not\nbind these data") == 1
    assert "note: the promise is the smallest mean error" in text


RANGE = r"-?\d+\.\d\d to -?\d+\.\d\d"


def test_a_run_evaluates_no_bound_that_it_does_not_print(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated = list[str]()

    def evaluate(point: Any, row: Any, x: float | None = None) -> Any:
        """Record a bound's slug, and evaluate the bound."""
        evaluated.append(row.card.slug)
        return original(point, row, x)

    original = report.evaluate
    monkeypatch.setattr(report, "evaluate", evaluate)
    assert main(("run", "--all", "--method", "mean.clipped", *SMALL)) == 0
    printed = capsys.readouterr().out
    assert evaluated and all(slug in printed for slug in evaluated)
    cards = [b.card for b in bounds_for("mean", "item") if not b.has_scope]
    explicit = {c.slug for c in cards if (c.kind, c.constant) == ("lower", "explicit")}
    assert explicit == set(evaluated)


def test_a_swept_run_prints_slopes(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "run", *SMALL, "--axis", "n", "--grid", "100,200,400")
    assert "Slope of log error against log axis" in text
    verdict = r"(consistent with|contradicts|more trials).*"
    assert re.search(rf"^Sample mean +-?\d\.\d\d +{RANGE} +-0\.50 +{verdict}$", text, re.M)
    assert re.search(rf"^Simple clipping +-?\d\.\d\d +{RANGE} +{RANGE} +{verdict}$", text, re.M)
    output = printed(capsys, "run", *SMALL, "--axis", "n", "--grid", "100,200")
    assert re.search(r"^Sample mean +- +- +-0\.50 +too few points to say$", output, re.M)


def test_a_run_over_epsilon_does_not_claim_one_budget(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "run", *SMALL, "--axis", "epsilon", "--grid", "0.5,2")
    assert "(1, 1e-06)-DP" not in text and "Recipes at n = 200, d = 3, (2, 1e-06)-DP" in text


def test_a_method_that_does_not_apply_prints_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, "run", *SMALL, "--delta", "0", "--method", "mean.clipped")
    assert "Gaussian noise cannot give pure DP" in text
    assert "nan" not in text


def test_no_command_prints_nan(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A refused method has no numbers, one trial has no interval, and a rate without values has no
    slope.
    """
    refused = ("--method=mean.clipped", "--method=mean.cwme-pure", "--delta=0", "--trials=1")
    swept = ("--axis=n", "--grid=100,200,400", "--d=2")
    (tmp_path / "study.toml").write_text("n = 200\nd = 2\n")
    study_ = ("study", str(tmp_path / "study.toml"), "--out", str(tmp_path / "out.sqlite"))
    for words in (("run", *refused, "--n=200"), ("run", *refused, *swept), (*study_, *refused)):
        assert main(words) == 0
        printed = capsys.readouterr().out
        assert "Gaussian noise cannot give pure DP" in printed
        assert not re.search(r"\bnan\b|- to -", printed, re.IGNORECASE)


@pytest.mark.parametrize("problem", [p for p in PROBLEM_SLUGS if p != "mean"])
def test_a_run_of_optimisers_prints_risks_and_their_lower_bounds(
    capsys: pytest.CaptureFixture[str], problem: str
) -> None:
    chosen = ("--problem", problem, "--method", "sco.erm", "--method", "sco.clipped")
    text = printed(capsys, "run", "--all", *SMALL, *chosen)
    name = problem_card(problem).name
    assert text.startswith(f"Excess risk: {name}, 2 trials, (1, 1e-06)-DP, replace-one\n")
    for slug in ("sco.erm", "sco.clipped"):
        name = re.escape(method_card(slug).name)
        assert re.search(rf"^{name} +[\d.]+(e-\d+)? ", text, re.MULTILINE)
    explicit = [
        b.card.slug
        for b in bounds_for(problem)
        if (b.card.kind, b.card.constant) == ("lower", "explicit")
        # These bounds are on other sets only.
        and b.card.instance not in ("corners", "blocks", "corner-labels")
        and not re.search("lq ball|hidden words", b.card.name)
        and not b.has_scope  # The run has p = 2, so bounds for other orders are left out.
    ]
    assert "lower.sco.hypercube-cdp" in explicit
    slugs = [line.split()[0] for line in text.splitlines() if line.strip()]
    assert [slug for slug in slugs if slug in BOUND_SLUGS] == explicit
    document = json.loads(printed(capsys, "run", *SMALL, *chosen, "--json"))
    averaged = any(row["evaluation_standard_error"] > 0 for row in document["results"])
    assert ("note: the risk is an average over a fixed evaluation sample" in text) == averaged
    assert averaged != problem_class(problem).exact_risk


def test_a_run_of_an_optimisation_problem_takes_default_methods(
    capsys: pytest.CaptureFixture[str],
) -> None:
    document = json.loads(printed(capsys, "run", *SMALL, "--problem", "linear", "--json"))
    methods = [row["method"] for row in document["results"]]
    assert methods == document["scenario"]["methods"] == list(default_methods("linear"))
    assert document["scenario"]["problem"] == "linear"
    assert {row["quantity"] for row in document["bounds"]} == {"excess risk"}


def test_the_hardest_data_known_have_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", *SMALL, "--p", "2", "--distribution", "hardest", "--json"]) == 0
    output = capsys.readouterr()
    point = Scenario.from_dict(json.loads(output.out)["scenario"])
    sharpest = hardest_bound(point)
    assert sharpest is not None and point.distribution == sharpest.card.instance
    assert sharpest.card.slug in output.err
    message = refused(capsys, "bounds", "--alike", "0.5", "--m", "4", "--distribution", "hardest")
    assert message.startswith(
        "dpsco: distribution must be a slug of the catalogue where no hardest"
    )


def test_a_swept_run_of_optimisers_prints_slopes(capsys: pytest.CaptureFixture[str]) -> None:
    swept = ("--axis", "n", "--grid", "100,400,1600", "--problem", "quadratic")
    text = printed(capsys, "run", *SMALL, *swept, "--method", "sco.erm", "--method", "sco.clipped")
    assert "Slope of log error against log axis" in text
    assert re.search(r"^Empirical risk minimi\w+ +-\d\.\d+ ", text.partition("Slope")[2], re.M)


def test_an_optimiser_that_does_not_apply_prints_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chosen = ("--problem", "logistic", "--method", "sco.cwme-strong", "--method", "sco.erm")
    text = printed(capsys, "run", *SMALL, *chosen)
    assert "The method needs a strongly convex population risk" in text
    assert "nan" not in text
    results = json.loads(printed(capsys, "run", *SMALL, *chosen, "--json"))["results"]
    assert [row["not_applicable"] is None for row in results] == [False, True]


def test_a_run_as_json_parses_and_holds_its_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(capsys, "run", *SMALL, "--rho", "0.5", "--json"))
    assert Scenario.from_dict(document["scenario"]) == Scenario(
        n=200, d=3, trials=2, epsilon=None, delta=None, rho=0.5
    )


def test_the_flag_tail_is_another_name_of_p(capsys: pytest.CaptureFixture[str]) -> None:
    output = printed(capsys, "run", *SMALL, "--tail", "4", "--json")
    same_output = printed(capsys, "run", *SMALL, "--p", "4", "--json")
    assert without_seconds(output) == without_seconds(same_output)
    assert json.loads(output)["scenario"]["p"] == 4


def test_progress_goes_to_a_terminal_and_is_wiped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            """Say that this is a terminal."""
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main(("run", *SMALL, "--json")) == 0
    json.loads(capsys.readouterr().out)
    progress = terminal.getvalue()
    assert "8 of 8 cells" in progress
    assert progress.endswith(" \r")
    assert "\n" not in progress


def test_bounds_are_printed_at_sizes_that_nobody_could_sample(
    capsys: pytest.CaptureFixture[str],
) -> None:
    large = ("--n", "1000000000", "--d", "100000")
    text = printed(capsys, "bounds", "--all", *large)
    slugs = [b.card.slug for b in bounds_for("mean")]
    assert all(f"\n{slug} " in f"\n{text}" for slug in slugs)
    block = text.partition("\nlower.mean.tracing-cdp ")[2].partition("\n\n")[0]
    assert "\n    class: coordinate moments; mean estimation\n" in block
    assert "\n    binds: every zCDP algorithm (rho=" in block
    statement = "DP-SCO Explorer, approx-lower-bounds, section 3, (T1) with Lemma B"
    assert f"\n    statement: {statement}" in block
    document = json.loads(printed(capsys, "bounds", *large, "--json"))
    assert [row["slug"] for row in document["bounds"]] == slugs
    assert "n times d must be at most" in refused(capsys, "run", *large)


def test_one_bound_is_printed_and_evaluated_alone(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    all_bounds = json.loads(printed(capsys, "bounds", "--json"))["bounds"]
    slug = [b.card.slug for b in bounds_for("mean")][1]
    evaluated = []

    def evaluate(point: Any, row: Any, x: float | None) -> Any:
        """Record a bound's slug, and evaluate the bound."""
        evaluated.append(row.card.slug)
        return original(point, row, x)

    original = report.evaluate
    monkeypatch.setattr(report, "evaluate", evaluate)
    single_bound = json.loads(printed(capsys, "bounds", "--bound", slug, "--json"))["bounds"]
    assert single_bound == [row for row in all_bounds if row["slug"] == slug]
    assert evaluated == [slug]
    text = printed(capsys, "bounds", "--bound", slug)
    assert [line.split()[0] for line in text.splitlines() if line.split()[:1] == [slug]] == [slug]
    assert f"bound={slug}" in refused(capsys, "bounds", "--problem", "linear", "--bound", slug)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--n", "0"), "n must be an integer between 1 and 1,000,000,000, got n=0."),
        (("--n=-5",), "n must be an integer between 1 and 1,000,000,000, got n=-5."),
        (("--n", "1e400"), "n must be an integer, got n=1e400."),
        (("--n", ""), "n must be given, got n=none."),
        (("--n", "9" * 5000), f"n must be an integer, got n={'9' * 57}...."),
        (("--d", "²"), "d must be an integer, got d=²."),
        (("--epsilon", "-1"), "epsilon must be at least 1e-06 and at most 1e+06, got epsilon=-1."),
        (
            ("--epsilon", "nan"),
            "epsilon must be at least 1e-06 and at most 1e+06, got epsilon=nan.",
        ),
        (("--delta", "1"), "delta must be at least 0 and below 1, got delta=1."),
        (("--p", "1.05"), "p must be at least 1.1 and at most 50, got p=1.05."),
        (
            ("--problem", "x\ny"),
            f"problem must be one of {', '.join(PROBLEM_SLUGS)}, got problem=x y.",
        ),
        (
            ("--problem", "logistic", "--method", "mean.clipped"),
            f"method must be {describe_choices(methods_for('logistic'), 'mean.clipped')} "
            "for the problem logistic, got method=mean.clipped.",
        ),
        (
            ("--method", "sco.erm"),
            f"method must be {describe_choices(methods_for('mean'), 'sco.erm')} "
            "for the problem mean, got method=sco.erm.",
        ),
        (
            ("--problem", "huber", "--method", "sco.none"),
            f"method must be {describe_choices(METHOD_SLUGS, 'sco.none')}, got method=sco.none.",
        ),
        (("--grid", "1,2"), "grid must be left out without an axis, got grid=1,2."),
        (
            ("--axis", "x"),
            "axis must be one of n, d, m, epsilon, p, q, diameter, decay, got axis=x.",
        ),
        (
            ("--axis", "epsilon", "--rho", "1"),
            "rho must be left out for the axis epsilon, got rho=1.",
        ),
        (
            ("--method", "mean.sample", "--method", "mean.sample"),
            "methods must be distinct, got methods=mean.sample,mean.sample.",
        ),
        (
            ("--distribution", "spike", "--d", "1"),
            "d must be at least 2 for the distribution spike, got d=1.",
        ),
        (("--offset", "2.5"), "offset must be at least 0 and at most 2, got offset=2.5."),
    ],
)
@pytest.mark.parametrize("name", ["run", "bounds"])
def test_bad_input_is_refused_in_the_wording_of_the_library(
    capsys: pytest.CaptureFixture[str], name: str, arguments: tuple[str, ...], message: str
) -> None:
    assert refused(capsys, name, *arguments) == f"dpsco: {message}"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ((), "COMMAND"),
        (("fly",), "'fly'"),
        (("run", "--nofield", "3"), "--nofield"),
        (("run", "--eps", "1"), "--eps"),  # Flags have no abbreviations.
        (("run", "--n"), "--n"),
        (("run", "a\nb"), "a b"),
        (("catalogue", "--n", "1"), "--n"),
        (("app", "--port", "x"), "port must be an integer between 1 and 65,535, got port=x."),
        (("app", "--port", "0"), "port must be"),
        (("app", "--port", "65536"), "port must be"),
        (("app", "--port", "٣"), "port must be"),
        (("app", "--port", "9" * 9999), "port must be"),
    ],
)
def test_a_wrong_flag_or_command_is_named(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], part: str
) -> None:
    line = refused(capsys, *arguments)
    assert part in line
    assert line.startswith("dpsco")


def test_the_help_names_every_command_and_nothing_of_the_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(("--help",))
    text = capsys.readouterr().out
    assert "ADD_COMMANDS" not in text and "`" not in text
    for command in ("run", "bounds", "catalogue", "app", "audit", "budget", "study", "export"):
        assert re.search(rf"^    {command}\b", text, re.MULTILINE), command


def test_no_flag_overwrites_the_function_that_runs_a_command() -> None:
    parsers = [_build_parser([name]) for name in COMMANDS]
    actions = [action for parser in parsers for action in parser._actions]
    chosen = [a.choices for a in actions if isinstance(a.choices, dict)]
    commands = {name: choices[name] for name, choices in zip(COMMANDS, chosen, strict=True)}
    flags = {name: {a.dest for a in parser._actions} for name, parser in commands.items()}
    assert len(flags) > 10 and not [name for name, flags in flags.items() if "does" in flags]


def test_every_field_has_a_flag_and_a_help_text(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(("run", "--help"))
    text = capsys.readouterr().out
    for name in Scenario().to_dict():
        assert ("--method " if name == "methods" else f"--{name} ") in text
    assert "--tail" in text


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(("--version",))
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"dpsco {__version__}\n"


def test_an_interrupted_run_ends_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Any:
        """Raise the exception of Ctrl-C."""
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_run, "run_study", interrupted)
    assert main(("run", *SMALL)) == 130


def test_the_dashboard_is_started_with_the_entry_and_the_port(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[list[str]] = []

    def started_with(arguments: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        """Record the command that would start the dashboard, and return exit status 3."""
        started.append(arguments)
        return subprocess.CompletedProcess(arguments, 3)

    monkeypatch.setattr(subprocess, "run", started_with)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: object())
    assert main(("app", "--port", "8600")) == 3
    assert started == [[sys.executable, "-m", "dpsco_app", "--server.port", "8600"]]


def test_the_server_runs_the_entry_of_the_checkout() -> None:
    entry = importlib.import_module("dpsco_app.shell.serve").entry_script()
    assert (entry.name, entry.exists()) == ("app.py", True)


def test_the_server_warms_up_on_the_first_page(monkeypatch: pytest.MonkeyPatch) -> None:
    server = importlib.import_module("dpsco_app.shell.serve")
    screens: list[list[int]] = []
    front_screen_before = server.front_screen

    def front_screen(studies: tuple[Any, ...], *arguments: Any) -> Any:
        """Record how much of each study has run, and draw the screen."""
        screens.append([len(study.outcomes) for study in studies])
        return front_screen_before(studies, *arguments)

    monkeypatch.setattr(server, "front_screen", front_screen)
    server.warm_up()
    scenario = server.DEFAULT.scenario
    cells = len(scenario.methods) * len(scenario.grid)
    assert screens == [[cells, cells]]


def test_only_the_server_refuses_invalid_limits_of_the_environment() -> None:
    for module, status in (("dpsco_core.cli.main", 0), ("dpsco_app", 2)):
        arguments = ["--version"] if status == 0 else []
        process = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env=os.environ | {"DPSCO_LIMITS": "foo"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert process.returncode == status
        assert process.stderr.startswith("dpsco: DPSCO_LIMITS must be" if status else "")
        assert process.stderr.count("\n") == status // 2


def test_without_its_extra_the_dashboard_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "pip install 'dpsco-explorer[app]'" in refused(capsys, "app")


def test_experiments_of_errata_run_only_on_request(
    capsys: pytest.CaptureFixture[str],
) -> None:
    blank = []
    for extra_flags in ((), ("--run",)):
        assert main(("errata", "--severity", "misprint", "--json", *extra_flags)) == 0
        rows = json.loads(capsys.readouterr().out)["errata"]
        blank.append([row.get("finding") is None for row in rows])
    assert all(blank[0]) and not all(blank[1])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("fano", "--d=20.0000001"), "d must be an integer, got d=20.0000001."),
        (
            ("budget", "--releases=1000000.5"),
            "releases must be an integer, got releases=1000000.5.",
        ),
        (
            ("experiment", "tails", "--seed=-1"),
            "seed must be an integer between 0 and 9,223,372,036,854,775,807, got seed=-1.",
        ),
    ],
)
def test_the_refusal_of_a_number_quotes_it_as_it_was_typed(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], sentence: str
) -> None:
    assert refused(capsys, *arguments).endswith(f"dpsco: {sentence}")

"""docs/extend.md as printed: a method, a bound and a distribution from files, seen everywhere.

Whatever is added runs in a process of its own, so that the catalogue of the other tests stays.
"""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from dpsco_core import InvalidInput, extend
from dpsco_core.catalogue import BOUND_SLUGS, DISTRIBUTION_SLUGS, METHOD_SLUGS, PROBLEM_SLUGS
from dpsco_core.cli.main import main
from dpsco_core.scenario import Scenario
from tests.golden_sentences import GOLDEN

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "extend.md").read_text(encoding="utf-8")
BLOCKS = {
    text.split("\n")[0].removeprefix("# "): text
    for text in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
}
PLUGIN_FILES = ("my_mean.py", "my_bound.py", "my_law.py")
PLUGIN_FLAGS = tuple(f"--with={name}" for name in PLUGIN_FILES)
MARK = "--- what was run, as a script ---"
METHOD, BOUND, LAW = "mean.recentred", "upper.mean.recentred", "weibull"
STEP = "sco.one-step"
CLIPPED = """
from dataclasses import dataclass
from dpsco_core.catalogue import method_class
from dpsco_core.methods.base import Release
Clipped = method_class("mean.clipped")
"""
# This program runs several commands in one process, which imports only once, and prints [status,
# output, errors] of each.
COMMANDS = """
import contextlib, io, json, sys
from dpsco_core.cli.main import main
told = []
for command in json.loads(sys.argv[1]):
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        status = main(command)
    told.append((status, out.getvalue(), err.getvalue()))
print(json.dumps(told))
"""
DASHBOARD = """
import sys
from dpsco_core.plugins import extend
for name in sys.argv[1:4]:
    extend.load(name)
import plotly.graph_objects as go
from dpsco_app.figure.methods import colour_of, is_dashed, symbol_of
from dpsco_core.catalogue import METHOD_SLUGS
from tests.app import quick
from tests.app.pages import open_page, shown_result
for module, name, value in quick.AT_ONCE:
    setattr(module, name, value)
page = open_page(
    methods="mean.sample,mean.clipped,mean.recentred", distribution="weibull", n="2000"
)
figures = page.get("plotly_chart")
text = "".join(figure.proto.spec for figure in figures)
assert "Recentred clipping" in text
assert {o.method for o in shown_result(page).outcomes} >= {"mean.recentred"}
def look(slug):
    return colour_of(slug), symbol_of(slug), is_dashed(slug)
assert look("mean.recentred")[0][0] in text
means = [slug for slug in METHOD_SLUGS if slug.startswith("mean.")]
assert [look(slug) for slug in means].count(look("mean.recentred")) == 1
"""


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a Python command in a folder."""
    return subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False
    )


def run_commands(folder: Path, *commands: Sequence[str]) -> list[tuple[int, str, str]]:
    """Return status, output and errors of each command, all in one process of their own."""
    child = run(folder, "-c", COMMANDS, json.dumps(commands))
    assert child.returncode == 0, child.stderr
    return [(status, out, err) for status, out, err in json.loads(child.stdout)]


def dpsco(folder: Path, *commands: Sequence[str]) -> list[str]:
    """Run commands, all of which must succeed; return what each of them prints."""
    answers = run_commands(folder, *commands)
    assert all(status == 0 for status, _, _ in answers), answers
    return [out for _, out, _ in answers]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the files of the recipe into a folder; return it."""
    for name, text in BLOCKS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_each_file_of_the_page_is_short() -> None:
    assert set(BLOCKS) == {*PLUGIN_FILES, "my_optimiser.py", "own_run.py"}
    assert all(len(text.splitlines()) < 75 for text in BLOCKS.values())


def test_the_command_line_lists_runs_and_bounds_what_files_add(folder: Path) -> None:
    options = ("--method", METHOD, "--distribution", LAW, "--n=500", "--trials=4", "--json")
    *printed, description, step = dpsco(
        folder,
        ("catalogue", "--json", *PLUGIN_FLAGS),
        ("run", *options, "--workers=1"),
        ("run", *options, "--workers=2"),
        ("bounds", "--delta=0", "--json"),
        ("about", METHOD),
        ("run", "--with=my_optimiser.py", f"--method={STEP}", "--problem=huber", *options[2:]),
    )
    listed, result, parallel_result, pure = map(json.loads, printed)
    slugs = {kind: [row["slug"] for row in rows] for kind, rows in listed.items()}
    assert slugs["methods"] == [*METHOD_SLUGS, METHOD]
    assert slugs["bounds"] == [*BOUND_SLUGS, BOUND]
    assert slugs["distributions"] == [*DISTRIBUTION_SLUGS, LAW]
    (row,) = result["results"]
    assert row["method"] == METHOD and 0 < row["median_error"] < 2
    assert row["spent"] == {"kind": "approx", "epsilon": 1.0, "delta": 1e-6}
    assert (
        row["mean_error"] == parallel_result["results"][0]["mean_error"]
    )  # The workers load the files too.
    assert BOUND in {b["slug"] for b in result["bounds"]}
    (bound,) = (b for b in pure["bounds"] if b["slug"] == BOUND)
    assert bound["failures"] == [GOLDEN["Gaussian noise under pure DP"]]
    assert "Recentred clipping" in description
    (row,) = json.loads(step)["results"]
    assert row["method"] == STEP and row["spent"]["epsilon"] == 1.0


def test_a_law_serves_the_problems_whose_questions_it_answers(folder: Path) -> None:
    """Without the law of a coordinate, three of the nine problems refuse the law, in one sentence
    each.
    """
    text = BLOCKS[PLUGIN_FILES[2]]
    short = (
        text[: text.index("    @property\n    def univariate")] + "\n\nDISTRIBUTIONS = (Weibull,)\n"
    )
    (folder / "my_short_law.py").write_text(short.replace(LAW, "short"), encoding="utf-8")
    common = ("--n=200", "--d=3", "--trials=2", "--p=4", "--workers=1", "--json")
    for slug, name, refusing in (
        (LAW, PLUGIN_FILES[2], set[str]()),
        ("short", "my_short_law.py", {"huber", "absolute", "geometric-median"}),
    ):
        commands = [
            ("run", *common, f"--problem={p}", f"--distribution={slug}", f"--with={name}")
            for p in PROBLEM_SLUGS
        ]
        for problem, (status, out, err) in zip(
            PROBLEM_SLUGS, run_commands(folder, *commands), strict=True
        ):
            if problem in refusing:
                assert status == 2 and err == (
                    "dpsco: distribution must be one that gives the law of a coordinate (its "
                    f"`univariate`) for the problem {problem}, got distribution=short.\n"
                )
            else:
                assert status == 0, err
                errors = [row["mean_error"] for row in json.loads(out)["results"]]
                assert errors and all(error > 0 for error in errors), problem


def install(folder: Path, entry: str) -> None:
    """Install the page's estimator as a package does: a module, and metadata with `entry`."""
    (folder / "my_package.py").write_text(BLOCKS[PLUGIN_FILES[0]], encoding="utf-8")
    info = folder / "my_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[dpsco.methods]\nmine = {entry}\n")


def test_an_installed_package_adds_a_method_by_its_entry_point(folder: Path) -> None:
    install(folder, "my_package")
    command = ("run", "--method", METHOD, "--n=500", "--trials=2", "--workers=2", "--json")
    listed, result = map(json.loads, dpsco(folder, ("catalogue", "--json"), command))
    assert [row["slug"] for row in listed["methods"]] == [*METHOD_SLUGS, METHOD]
    (row,) = result["results"]
    assert row["method"] == METHOD and 0 < row["mean_error"] < 2  # The workers load the file too.


def test_a_package_that_cannot_be_loaded_is_named(folder: Path) -> None:
    install(folder, "my_package.absent")
    child = run(folder, "-m", "dpsco_core.cli.main", "catalogue")
    assert child.returncode == 2 and "got dpsco.methods=my_package.absent" in child.stderr


def test_the_audit_lets_it_stand_and_catches_it_broken(folder: Path) -> None:
    """The audit has a false-alarm rate of 1e-6."""
    command = ("audit", "--method", METHOD, "--confidence=0.999999", "--json", "--trials=8000")
    faults = ((*command, f"--fault={fault}") for fault in ("half-noise", "no-clipping"))
    answers = dpsco(folder, (*command, PLUGIN_FLAGS[0]), *faults)
    honest, broken, unclipped = map(json.loads, answers)
    assert honest["verdict"] == "not refuted"
    assert unclipped["verdict"] == "refuted" and unclipped["caught_at"] is not None
    assert honest["claimed_epsilon"] == 1 and honest["caught_at"] is None
    assert broken["caught_at"] is not None


def test_an_overflow_in_added_code_is_reported_in_one_sentence_without_a_path(folder: Path) -> None:
    file = folder / PLUGIN_FILES[0]
    text = file.read_text(encoding="utf-8")
    overflow = "        np.exp(np.full(1, 1e6))\n        mean = into_ball("
    file.write_text(text.replace("        mean = into_ball(", overflow), encoding="utf-8")
    command = ("audit", PLUGIN_FLAGS[0], "--method", METHOD, "--trials=100")
    child = run(folder, "-m", "dpsco_core.cli.main", *command)
    assert child.returncode == 0 and "not refuted" in child.stdout
    (place,) = re.findall(r"^dpsco: Warning in line (\d+) of my_mean.py: ", child.stderr)
    line = 1 + text[: text.index("        mean = into_ball(")].count("\n")
    assert int(place) == line
    assert child.stderr.endswith(": overflow encountered in exp.\n")
    assert child.stderr.count("\n") == 1 and str(folder) not in child.stderr


def test_the_library_runs_an_added_method_and_an_exported_script_names_its_files(
    folder: Path,
) -> None:
    tail = (
        "print(scenario.to_python())\n"
        "from dpsco_core import cost\n"
        "from dpsco_core.results.notebook import run_notebook, run_script\n"
        "assert 0 < cost(scenario).seconds < 60\n"
        "for text in (run_script([scenario]), run_notebook([scenario])):\n"
        "    assert all(name in text for name in ('my_mean.py', 'my_law.py'))\n"
    )
    program = BLOCKS["own_run.py"] + f"print({MARK!r})\n" + tail
    (folder / "own_run.py").write_text(program, encoding="utf-8")
    child = run(folder, "own_run.py")
    assert child.returncode == 0, child.stderr
    printed, script = child.stdout.split(f"{MARK}\n")
    assert "Recentred clipping" in printed
    assert "my_mean.py" in script and "my_bound.py" not in script
    (folder / "exported.py").write_text(script, encoding="utf-8")
    script_run = run(folder, "exported.py")
    assert script_run.returncode == 0, script_run.stderr
    errors = [
        re.findall(r"clipping NaN +5 +([\d.]+)", text) for text in (printed, script_run.stdout)
    ]
    assert len(errors[0]) == 2 and errors[0] == errors[1]


def test_the_dashboard_draws_an_added_method_with_its_own_colour_and_mark(folder: Path) -> None:
    child = run(folder, "-c", DASHBOARD, *PLUGIN_FILES)
    assert child.returncode == 0, child.stderr[-2000:]


@pytest.mark.slow
def test_the_checks_and_the_deliberate_faults_cover_an_added_method(folder: Path) -> None:
    plugin_flag = f"--with={folder / PLUGIN_FILES[0]}"
    child = run(
        ROOT,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/trust",
        plugin_flag,
        f"-k={METHOD}",
    )
    assert child.returncode == 0, child.stdout[-2000:]
    assert int(re.findall(r"(\d+) passed", child.stdout)[0]) >= 10


# This release of the page's estimator returns the mean of two halves, each with its own noise.
HALVES = """    def release(self, rows, plan, ledger, rng):
        value, sensitivity = np.zeros(rows.d), 2 * plan.radius / (rows.n // 2)
        parts = zip(halves(rows, plan.radius), ledger.disjoint(2), strict=True)
        for mean, part in parts:
            mechanism = GaussianNoise(l2_sensitivity=sensitivity, rho=plan.rho)
            value += part.release(mechanism, mean, rng) / 2
        return Release(value=value, ledger=ledger)


def halves(rows, radius):
    safe, weights = clip_to_ball(np.concatenate(list(rows.blocks())), radius)
    clipped = weights[:, None] * safe
    size = rows.n // 2
    return np.stack([clipped[:size].mean(axis=0), clipped[size : 2 * size].mean(axis=0)])


METHODS = (Recentred,)
"""
SPLITS = """    reads = "whole"
    stage = Stage(splits=(Split(function=f"{__name__}.halves", told="blocks"),))
"""


@pytest.mark.slow
@pytest.mark.parametrize("is_said", [True, False])
def test_an_added_method_must_state_how_it_divides_its_records(
    is_said: bool, tmp_path: Path
) -> None:
    text = BLOCKS[PLUGIN_FILES[0]].partition("    def release")[0] + HALVES
    if is_said:
        text = text.replace('    reads = "ordered"\n', SPLITS)
    line = "from dpsco_core.methods.stage import Split, Stage\n"
    plugin_file = tmp_path / "halves.py"
    plugin_file.write_text(
        text.replace("\n\n\n@dataclass", f"\n{line}\n\n@dataclass", 1), encoding="utf-8"
    )
    chosen = f"{METHOD} and (reused or reuses)"
    place = "tests/trust/test_mutants.py"
    child = run(
        ROOT,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        place,
        f"--with={plugin_file}",
        f"-k={chosen}",
    )
    if is_said:  # The differences are the seed, the split, and whether there is a split.
        assert child.returncode == 0 and "3 passed" in child.stdout, child.stdout[-2000:]
    else:
        failed = re.findall(r"^FAILED .*::(\w+)", child.stdout, re.MULTILINE)
        blocks = "test_a_method_whose_ledger_counts_blocks_has_the_fault_that_reuses_them"
        assert failed == [blocks], child.stdout[-2000:]


CLUSTER = """
import sys
from distributed import LocalCluster
from dpsco_core import Scenario, extend, study
from dpsco_core.runs.dask_cluster import cluster
if __name__ == "__main__":
    extend.load(sys.argv[1])
    scenario = Scenario(methods=("mean.recentred",), n=300, trials=4)
    local = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None)
    with local, cluster(local.scheduler_address) as executor:
        there = sorted(o.error for o in study(scenario, executor))
    assert there == sorted(o.error for o in study(scenario))
"""


@pytest.mark.slow
def test_the_workers_of_a_cluster_get_the_files_as_text(folder: Path) -> None:
    pytest.importorskip("distributed")
    (folder / "clustered.py").write_text(CLUSTER, encoding="utf-8")
    child = run(folder, "clustered.py", PLUGIN_FILES[0])
    assert child.returncode == 0, child.stderr[-2000:]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("def f(:", r"^with must be a Python file that can be loaded, got .* in line 1: "),
        ("x = 1\n1 / 0", r"\(ZeroDivisionError in line 2: division by zero\)\.$"),
        ("raise SystemExit", r"^with must be a Python file that can be loaded"),
        ("x = 1", r"^with must be a file with METHODS, BOUNDS or DISTRIBUTIONS"),
        ("METHODS = [1]", r"^METHODS must be a tuple, got list"),
        ("METHODS = (1,)", r"^METHODS must hold frozen dataclasses, got int"),
        ("BOUNDS = (1,)", r"^BOUNDS must hold objects of the class Bound, got int"),
        ("DISTRIBUTIONS = (int,)", r"^DISTRIBUTIONS must hold frozen dataclasses that extend"),
        (
            "from dataclasses import dataclass\nfrom dpsco_core.base.cards import Card\n"
            "from dpsco_core.data import StudentT\nfrom dpsco_core.data.base import ScaledLaw\n"
            "@dataclass(frozen=True, kw_only=True)\nclass Mine(ScaledLaw):\n"
            "    card = StudentT.card\nDISTRIBUTIONS = (Mine,)",
            r"^DISTRIBUTIONS must hold laws that define _fill_centred and _log_moment, got Mine",
        ),
        (CLIPPED + "METHODS = (Clipped,)", r"^slug must be one .* got slug=mean\.clipped in "),
        (
            CLIPPED + "@dataclass\nclass Mine:\n    card = Clipped.card\nMETHODS = (Mine,)",
            r"^METHODS must hold frozen dataclasses, got Mine",
        ),
        (
            CLIPPED + "@dataclass(frozen=True)\nclass Mine(Clipped):\n"
            "    def plan(self, setting, records): ...\nMETHODS = (Mine,)",
            r"^plan must take setting and nothing else, because no method sees data before",
        ),
        (
            CLIPPED + "@dataclass(frozen=True)\nclass Mine(Clipped):\n"
            "    def __init__(self): ...\nMETHODS = (Mine,)",
            r"^METHODS must hold classes that can be made with calibration and tuning alone",
        ),
    ],
)
def test_a_file_that_cannot_be_added_gets_one_sentence_and_adds_nothing(
    tmp_path: Path, text: str, sentence: str
) -> None:
    path = tmp_path / "own.py"
    path.write_text(text, encoding="utf-8")
    counts = len(METHOD_SLUGS), len(BOUND_SLUGS), len(DISTRIBUTION_SLUGS), extend.loaded_files()
    with pytest.raises(InvalidInput, match=sentence) as raised:
        extend.load(path)
    assert str(raised.value).endswith(".") and "\n" not in str(raised.value)
    assert counts == (
        len(METHOD_SLUGS),
        len(BOUND_SLUGS),
        len(DISTRIBUTION_SLUGS),
        extend.loaded_files(),
    )


def test_a_file_that_is_not_there_ends_every_command_with_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = f"--with={tmp_path / 'none.py'}"
    for command in (["catalogue"], ["run"], ["audit"], ["study", "x", "--out", "y"], ["app"]):
        assert main([*command, missing]) == 2
        assert "with must be a Python file that can be read" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["dpsco_app", missing])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_module("dpsco_app", run_name="__main__")
    assert "with must be" in capsys.readouterr().err


UNCOVERED = {
    "spends too much": (
        "value = ledger.release(GaussianNoise(l2_sensitivity=0.1, rho=99.0), value, rng)\n"
        "        return Release(value=value, ledger=ledger)",
        "stays within its budget",
    ),
    "adds no noise": (
        "return Release(value=value, ledger=ledger)",
        "releases through the ledger",
    ),
    "has a ledger of its own": (
        "from dpsco_core.privacy import ZCDP, Ledger\n"
        "        other = Ledger(ZCDP(rho=99.0))\n"
        "        value = other.release(GaussianNoise(l2_sensitivity=0.1, rho=99.0), value, rng)\n"
        "        return Release(value=value, ledger=other)",
        "releases through the ledger",
    ),
}


def test_a_run_that_its_ledger_does_not_cover_ends_with_status_2(folder: Path) -> None:
    good = BLOCKS["my_mean.py"]
    start = good.index("        centre")
    end = good.index("\n\n\nMETHODS")
    commands, sentences = [], []
    for fault, (steps, sentence) in UNCOVERED.items():
        slug = f"mean.{fault.replace(' ', '-')}"
        bad = f"{good[:start]}        value = np.zeros(rows.d)\n        {steps}{good[end:]}"
        (folder / f"{slug}.py").write_text(bad.replace(METHOD, slug), encoding="utf-8")
        options = ("--method", slug)
        commands += [
            ("run", "--n=100", "--trials=1", *options, f"--with={slug}.py"),
            ("audit", "--trials=100", *options),
        ]
        sentences += [sentence] * 2
    answers = run_commands(folder, *commands)
    for command, sentence, (status, out, err) in zip(commands, sentences, answers, strict=True):
        assert status == 2, command
        assert (out == "") == (command[0] == "audit")  # A run still prints its table.
        complaint = err.strip()
        assert complaint.startswith("dpsco: method must be one that " + sentence), (
            command,
            complaint,
        )
        assert "\n" not in complaint


def test_a_built_in_scenario_is_exported_without_files() -> None:
    assert "extend" not in Scenario().to_python()


@pytest.mark.parametrize("order", [("method", "bound"), ("bound", "method")])
def test_a_method_and_its_rate_may_be_in_two_files_in_either_order(
    folder: Path, order: tuple[str, str]
) -> None:
    """The method names the bound as its rate, and the bound names the method."""
    text = BLOCKS[PLUGIN_FILES[0]].replace('privacy="zcdp",', f'privacy="zcdp", rate="{BOUND}",', 1)
    (folder / "method.py").write_text(text, encoding="utf-8")
    (folder / "bound.py").write_text(BLOCKS[PLUGIN_FILES[1]], encoding="utf-8")
    files = [f"--with={name}.py" for name in order]
    [printed] = dpsco(folder, ("catalogue", "--json", *files))
    listed = json.loads(printed)
    assert {METHOD, BOUND} <= {row["slug"] for kind in listed.values() for row in kind}
    for lonely in ("method", "bound"):
        ((status, _, err),) = run_commands(folder, ("catalogue", f"--with={lonely}.py"))
        assert status == 2 and "that of a known" in err

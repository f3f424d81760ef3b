"""What is in the environment changes no result, and every child process inherits it.

The library of linear algebra chooses its kernels, and so the order of its sums, by the processor
and by variables such as ``OPENBLAS_CORETYPE``. A child without its parent's variables may differ
from it in the last bits.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpsco_app.parts.fields import ALL_CONTROLS
from dpsco_core import Scenario
from dpsco_core.cli.main import main
from dpsco_core.results.notebook import run_notebook, run_script
from tests.conftest import ROOT, STRAY, settle

Changes = dict[str, str | None]


def kernels_here() -> tuple[str | None, ...]:
    """Return the values that `OPENBLAS_CORETYPE` may have on this processor, unset included."""
    cpu_file = Path("/proc/cpuinfo")
    words = set(cpu_file.read_text(encoding="utf-8").split()) if cpu_file.exists() else set()
    features = {"Haswell": {"avx2", "fma"}, "SkylakeX": {"avx2", "fma", "avx512f", "avx512bw"}}
    return (None, *(name for name, needs in features.items() if needs <= words))


KERNELS = kernels_here()


def change(monkeypatch: pytest.MonkeyPatch, changes: Changes) -> None:
    """Set some variables and remove those that are None; child processes inherit the result."""
    for name, value in changes.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)


FRESH = {"execle", "execlpe", "execve", "execvpe", "posix_spawn", "posix_spawnp"}
FRESH |= {"spawnle", "spawnlpe", "spawnve", "spawnvpe"}


def inherits(value: ast.expr, assigned: dict[str, list[ast.expr]]) -> bool:
    """Whether an expression is None or starts from `os.environ`."""
    match value:
        case ast.Constant(value=None):
            return True
        case ast.BinOp(left=left, op=ast.BitOr()):
            return inherits(left, assigned)
        case ast.Dict(keys=[None, *_], values=[base, *_]):
            return inherits(base, assigned)
        case ast.Call(func=ast.Name(id="dict"), args=[base]):
            return inherits(base, assigned)
        case ast.Call(func=ast.Attribute(value=base, attr="copy"), args=[]):
            return inherits(base, assigned)
        case ast.Name(id=name):
            values = assigned.get(name, [])
            return bool(values) and all(inherits(v, {}) for v in values)
    return ast.unparse(value) == "os.environ"


def children_inherit(module: str, source: str) -> list[str]:
    """Return the child processes of a module whose ``env=`` does not start from `os.environ`."""
    if not re.search(r"env\b|environ\b|exec|spawn", source):
        return []  # Parsing all modules takes long.
    tree = ast.parse(source)
    assigned: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                assigned.setdefault(ast.unparse(target), []).append(node.value)
    faults = [f"{module} replaces os.environ"] * ("os.environ" in assigned)
    for node in ast.walk(tree):
        environments: list[ast.expr] = []
        if isinstance(node, ast.Call):
            environments += [k.value for k in node.keywords if k.arg == "env"]
            called = ast.unparse(node.func)
            if called.rpartition(".")[2] in FRESH or called == "os.environ.clear":
                faults.append(f"{module}:{node.lineno} calls {called}")
        elif isinstance(node, ast.Dict):  # Such a dictionary may hold keyword options.
            pairs = zip(node.keys, node.values, strict=True)
            environments += [
                v for k, v in pairs if isinstance(k, ast.Constant) and k.value == "env"
            ]
        for value in environments:
            if not inherits(value, assigned):
                faults.append(f"{module}:{value.lineno} starts a child with {ast.unparse(value)}")
    return faults


def test_every_child_starts_from_the_environment_of_its_parent() -> None:
    folders = ("benchmarks", "deploy", "dpsco_app", "dpsco_core", "tests")
    files = [ROOT / "app.py", *(path for name in folders for path in ROOT.glob(f"{name}/**/*.py"))]
    assert len(files) > 500
    faults = [
        fault
        for path in files
        for fault in children_inherit(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    ]
    assert not faults, "\n".join(faults)
    scripts = [ROOT / "Makefile", *ROOT.glob(".ci/*"), *ROOT.glob("deploy/**/*")]
    scripts = [path for path in scripts if path.is_file() and path.suffix != ".pyc"]
    assert not [path for path in scripts if "env -i" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize(
    "source",
    [
        'run(command, env={"PYTHONPATH": "."})',
        'run(command, env={"PYTHONPATH": ".", **os.environ})',
        'run(command, env={"PATH": os.environ["PATH"]})',
        "run(command, env={})",
        'run(command, env={"A": "1"} | os.environ)',
        'run(command, env=dict(PATH="/bin"))',
        "clean = {}\nrun(command, env=clean)",
        "clean = os.environ | {}\nclean = {}\nrun(command, env=clean)",
        "def start(env):\n    run(command, env=env)",
        'run(command, **{"env": {}})',
        "os.execve(path, command, {})",
        "os.environ.clear()",
        "os.environ = {}",
    ],
)
def test_the_rule_catches_a_child_without_it(source: str) -> None:
    assert children_inherit("module", source)


@pytest.mark.parametrize(
    "source",
    [
        "run(command)",
        "run(command, env=None)",
        "run(command, env=os.environ)",
        'run(command, env=os.environ | {"A": "1"} | more)',
        'run(command, env={**os.environ, "A": "1"})',
        'run(command, env=dict(os.environ, A="1"))',
        "kept = os.environ.copy()\nrun(command, env=kept)",
        'os.environ["A"] = "1"',
    ],
)
def test_the_rule_accepts_a_child_that_inherits_the_environment(source: str) -> None:
    assert not children_inherit("module", source)


def test_stray_settings_are_removed_and_all_others_stay() -> None:
    stray = dict.fromkeys(STRAYS, "1")
    harmless = {"OPENBLAS_CORETYPE": "Haswell", "OMP_NUM_THREADS": "2", "TZ": "Asia/Kolkata"}
    harmless |= {"LC_ALL": "de_DE.UTF-8", "HOME": "/nowhere", "PATH": "/bin", "TERM": "dumb"}
    harmless |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_XDIST_WORKER": "gw0", "PYTHONUTF8": "0"}
    environment = stray | harmless | {"PYTHONPATH": "/other"}
    settle(environment)
    assert environment == harmless | {"PYTHONPATH": f"{ROOT}{os.pathsep}/other"}
    assert not [name for name in os.environ if STRAY.fullmatch(name)]


def test_the_commands_print_in_every_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ("ascii", "latin-1", "cp1252", "utf-8"):
        printed = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", printed)
        assert main(("errata",)) == 0
        printed.seek(0)
        assert ("–" if encoding in ("cp1252", "utf-8") else r"\u2013") in printed.read()


# This program prints the kernels of linear algebra in a process, in its worker and in a script that
# it starts, and all errors of a study.
FAMILY = """
import json, os, subprocess, sys
from pathlib import Path
import numpy, threadpoolctl
from dpsco_core import Scenario, frame, study
from dpsco_core.runs.executors import processes
from dpsco_core.results.notebook import run_script

def kernels():
    return sorted(str(library.get("architecture")) for library in threadpoolctl.threadpool_info())

def errors(cells):
    return [float(error).hex() for error in cells["error"]]

if __name__ == "__main__":
    import pandas
    folder = Path(sys.argv[1])
    scenario = Scenario(
        problem="quadratic", methods=("sco.clipped", "sco.cwme"), n=3000, d=37, trials=2
    )
    # Workers import this very file, so that they can be asked.
    with processes(1) as pool:
        beside = frame(list(study(scenario, pool))).sort_values(["method", "trial"])
        asked = pool.submit(kernels).result(), pool.submit(os.getenv, "OPENBLAS_CORETYPE").result()
    script, file = folder / "run.py", folder / "cells.csv"
    script.write_text(run_script([scenario]), encoding="utf-8")
    subprocess.run([sys.executable, str(script), str(file)], check=True, stdout=subprocess.PIPE)
    there = pandas.read_csv(file).sort_values(["method", "trial"])
    here = frame(study(scenario)).sort_values(["method", "trial"])
    said = {
        "kernels": (kernels(), asked[0]),
        "variable": (os.getenv("OPENBLAS_CORETYPE"), asked[1]),
        "errors": (errors(here), errors(beside), errors(there)),
    }
    print(json.dumps(said))
"""


@pytest.mark.parametrize(
    "kernel",
    [pytest.param(k, marks=pytest.mark.slow if k != KERNELS[:2][-1] else []) for k in KERNELS],
)
def test_workers_and_scripts_have_the_bits_of_their_parent(
    kernel: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(monkeypatch, {"OPENBLAS_CORETYPE": kernel})
    file = tmp_path / "family.py"
    file.write_text(FAMILY, encoding="utf-8")
    child = subprocess.run(
        [sys.executable, "-W", "error", str(file), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    answer = json.loads(child.stdout)
    assert answer["variable"] == [kernel, kernel]
    (parent_errors, *child_errors) = answer["errors"]
    assert len(parent_errors) == 4 and child_errors == [parent_errors, parent_errors]
    parent, worker = answer["kernels"]
    assert parent == worker
    # If numpy uses OpenBLAS, the kernel must have changed; otherwise the test would check nothing.
    assert kernel is None or kernel in parent or "None" in parent


def test_every_promise_of_identical_bits_names_the_machine() -> None:
    scenario = Scenario()
    seed = ALL_CONTROLS["seed"]
    documents = ("README.md", "docs/commands.md", "docs/scaling.md", "docs/hosting.md")
    pages = [ROOT / name for name in documents]
    texts = [path.read_text(encoding="utf-8") for path in pages]
    assert isinstance(seed.help, str)
    texts += [seed.help, scenario.to_python(), run_script([scenario]), run_notebook([scenario])]
    assert all(re.search(r"one\s+machine|last digits", text) for text in texts)
    for text in texts:
        for line in text.split("\n\n"):
            assert "last bit" not in line or "machine" in line, line
        assert "same numbers everywhere" not in text


# These tests start processes, compare bits, print, write files, or read the environment.
SELECTED_TESTS = (
    "tests/results/test_notebook.py::test_a_script_writes_every_cell_of_the_study",
    "tests/runs/test_executors.py::test_threads_and_processes_give_the_numbers_of_the_serial_run[mean]",
    "tests/cli/test_main.py::test_bad_input_ends_a_process_with_status_2_and_one_sentence",
    "tests/cli/test_main.py::test_the_catalogue_lists_every_row",
    "tests/cli/test_main.py::test_the_server_runs_the_entry_of_the_checkout",
    "tests/runs/test_dask_cluster.py::test_two_workers_give_the_numbers_of_the_serial_run",
    "tests/cli/test_export.py",
    "tests/base/test_limits.py",
    "tests/runs/test_study.py::test_the_numbers_of_a_tiny_scenario_do_not_change",
    "tests/app/parts/test_export.py",
    "tests/attack/test_server.py::test_every_answer_carries_the_headers",
    "tests/browser/test_files.py::test_a_map_is_saved_as_picture_page_and_table",
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
STRAYS = {
    "STREAMLIT_SERVER_PORT": "9",
    "STREAMLIT_SERVER_BASE_URL_PATH": "elsewhere",
    "STREAMLIT_THEME_BASE": "dark",
    "DPSCO_LIMITS": "n=10",
    "DPSCO_STUDY": "/nowhere.sqlite",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1ms",
    "PYTHONWARNINGS": "always",
    "PYTHONSAFEPATH": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTEST_ADDOPTS": "--exitfirst",
    "FORCE_COLOR": "1",
    "NO_COLOR": "1",
    "COLUMNS": "40",
    "PWDEBUG": "1",
    "GIT_DIR": "/nowhere",
    **dict.fromkeys(("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"), "http://127.0.0.1:9"),
}
NOT_COPIED = (".*_cache", ".git", ".hypothesis", ".venv", "__pycache__", "build", "test-results")
# Settings that do not exclude each other are tried together, since each run takes a minute; the
# names list them.
SETTINGS: dict[str, Changes] = {
    "Haswell, no thread is named": {
        "OPENBLAS_CORETYPE": "Haswell" if "Haswell" in KERNELS else None,
        **dict.fromkeys(THREADS),
    },
    "SkylakeX, two threads, German in Latin-1, India, no home": {
        "OPENBLAS_CORETYPE": "SkylakeX" if "SkylakeX" in KERNELS else None,
        **dict.fromkeys(THREADS, "2"),
        "LC_ALL": "de_DE.ISO-8859-1",
        "LANGUAGE": "de",
        "TZ": "Asia/Kolkata",
        "HOME": None,
    },
    "no kernel is named, Turkish, stray settings": {
        "OPENBLAS_CORETYPE": None,
        "LC_ALL": "tr_TR.UTF-8",
        "LANGUAGE": "tr",
        "PYTHONIOENCODING": "iso8859-9",
        "TERM": "dumb",
        **STRAYS,
    },
    "a path with a space, ASCII, a home that cannot be written": {
        "LC_ALL": "C",
        "PYTHONIOENCODING": "ascii",
        "TZ": "America/St_Johns",
        "HOME": "/proc/nowhere",  # Not even root can create this path.
    },
}


def with_languages(folder: Path) -> dict[str, str]:
    """Make the languages that the settings name, if the system can; return the variables that find
    them.
    """
    localedef = shutil.which("localedef")
    for name in ("de_DE.ISO-8859-1", "tr_TR.UTF-8") if localedef else ():
        language, _, encoding = name.partition(".")
        command = [localedef, "-i", language, "-f", encoding, str(folder / name)]
        subprocess.run(command, capture_output=True, check=False)
    return {"LOCPATH": str(folder)}


@pytest.mark.slow
@pytest.mark.parametrize("name", SETTINGS)
def test_the_suite_passes_in(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = dict(SETTINGS[name])
    root = ROOT
    if "LANGUAGE" in changes:
        changes |= with_languages(tmp_path)
    if name.startswith("a path with a space"):
        root = tmp_path / "a checkout"
        shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*NOT_COPIED))
        (tmp_path / "a folder").mkdir()
        changes["TMPDIR"] = str(tmp_path / "a folder")
    change(monkeypatch, changes)
    plain = ("-q", "-p", "no:cacheprovider", "-n", "0", f"--basetemp={tmp_path / 'the tests'}")
    child = subprocess.run(
        [sys.executable, "-m", "pytest", *plain, *SELECTED_TESTS],
        cwd=root,
        capture_output=True,
        check=False,
    )
    text = child.stdout.decode(errors="replace")
    assert child.returncode == 0, text[-5000:]

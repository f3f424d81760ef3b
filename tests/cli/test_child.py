"""A command in a process of its own ends as every command does, with the same catalogue."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.cli.streams import exit_status
from tests.cli.test_main import ROOT
from tests.test_extend import METHOD, install, run

CHILD = """
import sys
from dpsco_core.cli.streams import child_status
print_word = lambda chosen: print(chosen["word"])
sys.exit(child_status(print_word, '{"own": [], "word": "\\\\u2013"}'))
"""


def child(output: Any, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a child process that prints an en dash to `output`, under changed environment
    variables.
    """
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", CHILD],
        cwd=ROOT,
        env=os.environ | variables,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (InvalidInput("n must be positive, got n=0."), 2, "dpsco: n must be positive, got n=0.\n"),
        (NotApplicable("It needs a ball."), 2, "dpsco: It needs a ball.\n"),
        (KeyboardInterrupt(), 130, ""),
        (OSError(28, "No room", "a.pdf"), 2, "dpsco: a.pdf cannot be used: No room.\n"),
    ],
)
def test_each_way_to_end_has_its_status_and_sentence(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    status: int,
    sentence: str,
) -> None:
    def fail() -> None:
        """Raise the error of the case."""
        raise error

    # The real function would close the output of the tests' own process.
    monkeypatch.setattr("dpsco_core.cli.streams.forget_output", lambda: None)
    assert exit_status(fail) == status
    assert capfd.readouterr().err == sentence


def test_a_command_that_ends_well_has_its_own_status_or_zero() -> None:
    assert exit_status(lambda: None) == 0
    assert exit_status(lambda: 3) == 3


def test_a_child_escapes_characters_that_the_output_cannot_encode() -> None:
    process = child(subprocess.PIPE, PYTHONIOENCODING="latin-1")
    assert (process.returncode, process.stdout, process.stderr) == (0, "\\u2013\n", "")


def test_a_closed_pipe_is_no_failure_of_a_child() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = child(writer, PYTHONUNBUFFERED="")
    os.close(writer)
    assert (process.returncode, process.stderr) == (0, "")


def test_a_page_has_the_methods_of_installed_packages(tmp_path: Path) -> None:
    install(tmp_path, "my_package")
    plan = f'methods = ["{METHOD}"]\nn = 200\ntrials = 2\naxis = "n"\ngrid = [200, 400]\n'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    process = run(tmp_path, "-m", "dpsco_core.cli.main", "page", "plan.toml", "--out", "page.html")
    assert (process.returncode, process.stderr) == (0, "")
    assert (tmp_path / "page.html").is_file()

"""The command line's surroundings: closed streams, files that cannot be written, Ctrl-C."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dpsco_core.cli.main import main
from dpsco_core.runs.store import Store
from tests.cli.test_main import ROOT, SMALL, refused

DPSCO = shlex.join([sys.executable, "-W", "error", "-m", "dpsco_core.cli.main"])
STUDY = 'methods = ["mean.clipped"]\nn = 200\nd = 3\ntrials = 2\n'
FULL = Path("/dev/full")


def shell(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in which `dpsco` is the command."""
    words = f'dpsco() {{ {DPSCO} "$@"; }}; {script}'
    return subprocess.run(
        ["bash", "-c", words], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_messages_to_a_closed_standard_error_stay_out_of_the_json() -> None:
    run = shlex.join(("run", "--json", "--seed", "fresh", *SMALL))
    process = shell(f"exec 2>&-; dpsco {run}")
    assert process.returncode == 0
    assert len(json.loads(process.stdout)["results"]) > 0


@pytest.mark.parametrize("closed", ["2>&-", ">&-", "<&-", "<&- >&- 2>&-"])
def test_a_study_stores_its_cells_whichever_stream_is_closed(tmp_path: Path, closed: str) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "results.sqlite"
    plan.write_text(STUDY, encoding="utf-8")
    process = shell(f"exec {closed}; dpsco study {plan} --out {out} --workers 2 --seed fresh")
    assert process.returncode == 0
    with Store(out, read_only=True) as store:
        assert len(store) == 2


def test_a_closed_standard_output_does_not_change_the_written_file(tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "results.sqlite"
    plan.write_text(STUDY, encoding="utf-8")
    assert main(["study", str(plan), "--out", str(out)]) == 0
    open_one, closed_one = tmp_path / "one.csv", tmp_path / "two.csv"
    assert shell(f"dpsco export {out} --csv {open_one}").returncode == 0
    assert shell(f"exec >&- 2>&-; dpsco export {out} --csv {closed_one}").returncode == 0
    assert closed_one.read_bytes() == open_one.read_bytes()


@pytest.mark.parametrize("words", ["catalogue", "run --n 0", "nothing"])
def test_the_status_is_right_where_every_stream_is_closed(words: str) -> None:
    process = shell(f"exec <&- >&- 2>&-; dpsco {words}")
    assert process.returncode == (0 if words == "catalogue" else 2)


def cannot_be_written(tmp_path: Path) -> dict[str, Path]:
    """Return paths that cannot be written, by the message of the error."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    return {
        "No such file or directory": tmp_path / "none" / "out",
        "Is a directory": tmp_path,
        "Not a directory": tmp_path / "file" / "out",
        "File name too long": tmp_path / ("a" * 300),
    }


@pytest.mark.parametrize("kind", ["--csv", "--parquet"])
def test_an_export_is_refused_before_the_results_are_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, kind: str
) -> None:
    for reason, target in cannot_be_written(tmp_path).items():
        line = refused(capsys, "export", str(tmp_path / "missing.sqlite"), kind, str(target))
        assert line == f"dpsco: {target} cannot be written: {reason}."


def test_a_page_is_refused_before_its_study_runs(tmp_path: Path) -> None:
    """If the file of the study were read first, the error would name that file, which does not
    exist.
    """
    for reason, target in cannot_be_written(tmp_path).items():
        process = shell(f"dpsco page {tmp_path / 'missing.toml'} --out {target}")
        assert (process.returncode, process.stdout) == (2, "")
        assert process.stderr == f"dpsco: {target} cannot be written: {reason}.\n"


@pytest.mark.skipif(not FULL.exists(), reason="a device of Linux")
def test_a_full_device_is_reported_in_a_sentence(tmp_path: Path) -> None:
    plan, out = tmp_path / "plan.toml", tmp_path / "results.sqlite"
    plan.write_text(STUDY, encoding="utf-8")
    assert main(["study", str(plan), "--out", str(out)]) == 0
    for words in (f"export {out} --csv {FULL}", f"page {plan} --out {FULL} --over d"):
        process = shell(f"dpsco {words}")
        assert process.returncode == 2
        assert process.stderr.endswith(" cannot be written: No space left on device.\n")
        assert process.stderr.count("\n") == 1


def test_a_study_whose_output_cannot_be_written_is_refused_before_it_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(STUDY, encoding="utf-8")
    for target in (*cannot_be_written(tmp_path).values(), FULL):
        line = refused(capsys, "study", str(plan), "--out", str(target))
        assert str(target) in line


def test_a_byte_order_mark_at_the_start_of_a_scenario_file_is_ignored(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(STUDY, encoding="utf-8-sig")
    assert main(["study", str(plan), "--out", str(tmp_path / "results.sqlite")]) == 0
    assert "2 runs of this study" in capsys.readouterr().out


PRESSED = """
import os, signal, sys

class Presses:
    def find_spec(self, name, path=None, target=None):
        if name == "scipy":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Presses())
from dpsco_app.command import main
sys.exit(main())
"""


def test_ctrl_c_during_the_import_is_silent() -> None:
    process = subprocess.run(
        [sys.executable, "-c", PRESSED, "catalogue"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert (process.returncode, process.stdout, process.stderr) == (130, "", "")

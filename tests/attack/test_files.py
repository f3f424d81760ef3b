"""`dpsco study` on hostile files: one sentence each, and no file is touched but those it was given.

The command runs in a process of its own under an audit hook, which sees every file that Python or
SQLite opens, and every process and connection that is started.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.attack.nasty import LONGEST_SENTENCE, NASTY, objects
from tests.attack.test_readers import QUIET, TOML_FILES, toml_of

ROOT = Path(__file__).resolve().parents[2]
# Matches the progress that a running study prints.
PROGRESS = re.compile(r"[\d,]+ runs to do\.|[\d,]+ of [\d,]+ runs were there already\.")
# Studies are begun and not run, since a file on the command line may ask for any amount of work.
WATCHED = """
import contextlib, io, json, os, sys
from pathlib import Path
import pandas  # loaded where it is used: here before anyone watches
from dpsco_core.cli import main as cli, study as cli_study

folder = Path(sys.argv[1])
cli_study._run_outcomes = lambda scenario, store, *rest: (store.begin(scenario), iter(()))[1]
seen, said = [], []
STARTS = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "socket.connect", "exec.no")
FILES = ("open", "sqlite3.connect", "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link",
         "os.symlink", "os.truncate", "os.chmod", "shutil.rmtree")

def hook(event, arguments):
    if event in FILES or event in STARTS:
        mode = arguments[1] if event == "open" else ""
        seen.append((event, str(arguments[0]), str(mode)))

sys.addaudithook(hook)
for path in sorted(folder.glob("*.toml")):
    errors, printed = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(printed):
        status = cli.main(["study", str(path), "--out", str(folder / "results.sqlite")])
    said.append((path.name, status, errors.getvalue()))
print(json.dumps([seen, said]))
"""


def texts(count: int) -> list[str]:
    """Return hostile TOML: the fixed list, and `count` that hypothesis makes."""
    contents = [f"problem = {json.dumps(t)}" for t in NASTY if len(t) < 2000 and t.isprintable()]
    contents += ["a = " + "[" * 5000 + "]" * 5000, "x" * 1_000_001, "n = 5\nn = 6", "n = nan"]
    contents += ["[[n]]\n[[n]]", "n = 5\x00", 'methods = ["../../x"]', "seed = 1e999"]
    readable = objects().map(
        lambda values: toml_of({k: v for k, v in values.items() if isinstance(v, str | float)})
    )
    wrap = settings(max_examples=count, deadline=None, database=None, suppress_health_check=QUIET)

    def keep(text: str) -> None:
        """Add a text to the list."""
        contents.append(text)

    wrap(given(readable | TOML_FILES | st.just("n = 100"))(keep))()
    return contents


@pytest.mark.parametrize("count", [12, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_hostile_file_gets_a_sentence_and_touches_nothing_else(
    count: int, tmp_path: Path
) -> None:
    files = texts(count)
    for number, text in enumerate(files):
        data = text.encode("utf-8", "surrogatepass")
        (tmp_path / f"{number:05}.toml").write_bytes(data)
    contents = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    run = subprocess.run(
        [sys.executable, "-c", WATCHED, str(tmp_path)],
        cwd=tmp_path,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    events, answers = json.loads(run.stdout)
    assert len(answers) == len(files)
    statuses = {status for _, status, _ in answers}
    assert statuses == {0, 2}
    for name, status, error in answers:
        lines = [line for line in error.splitlines() if "the seed is" not in line]
        if status == 0:
            lines = [line for line in lines if not PROGRESS.fullmatch(line)]
        assert len(lines) == (1 if status else 0), (name, error)
        if status:
            assert lines[0].startswith("dpsco: ") and " must be " in lines[0], (name, error)
            assert len(lines[0]) < LONGEST_SENTENCE + len(str(tmp_path)), (name, error)
    own_paths = {str(tmp_path / name) for name in contents}
    results = str(tmp_path / "results.sqlite")
    python = (sys.prefix, sys.base_prefix, str(ROOT))
    for event, path, mode in events:
        if event == "sqlite3.connect":
            assert path.partition("?")[0] == Path(results).as_uri(), path
        else:
            assert event == "open", (event, path)
            assert mode in ("r", "rb", "None"), (path, mode)
            assert path in own_paths or path.startswith((*python, "/proc/", "/sys/")), path
    left = {path.name for path in tmp_path.iterdir()} - contents.keys()
    assert {name for name in left if not name.startswith("results.sqlite")} == set()
    assert all((tmp_path / name).read_bytes() == data for name, data in contents.items())

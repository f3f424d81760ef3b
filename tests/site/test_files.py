"""The engine's files: a wrong hash or a missing file is one sentence, and nothing is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.live import engine
from deploy.live.build import main
from deploy.live.library import library


def test_a_missing_file_and_a_wrong_one_are_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = tmp_path / "engine"
    there.mkdir()
    monkeypatch.setenv(engine.ENVIRONMENT, str(there))
    assert main(["--out", str(tmp_path / "live")]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dpsco: pyodide.mjs is missing in ") and said.count("\n") == 1
    (there / "pyodide.mjs").write_bytes(b"another file")
    assert main(["--out", str(tmp_path / "live")]) == 2
    said = capsys.readouterr().err
    assert "its SHA-256 differs" in said and said.count("\n") == 1
    assert not (tmp_path / "live").exists()


def test_the_folder_is_the_named_one_or_one_above_the_checkout(tmp_path: Path) -> None:
    beside = tmp_path / "shared" / "pyodide"
    here = tmp_path / "a" / "checkout"
    here.mkdir(parents=True)
    assert engine.folder({}, here / "file") != beside
    beside.mkdir(parents=True)
    assert engine.folder({}, here / "file") == beside
    assert engine.folder({engine.ENVIRONMENT: "x"}, here / "file") == Path("x")


def test_the_library_is_packed_without_the_dashboard_and_without_other_hosts() -> None:
    files = library()
    names = set(files)
    assert {"dpsco_app/site/visit.py", "dpsco_core/runs/study.py"} <= names
    assert not any("streamlit" in name or name.startswith("dpsco_core/cli") for name in names)
    texts = b"".join(files[n] for n in names if n.startswith("dpsco_app/"))
    assert b"import streamlit" not in texts and b"import pandas" not in texts

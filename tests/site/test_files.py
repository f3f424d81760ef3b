"""The engine's files: a wrong hash or a missing file is one sentence, and nothing is built."""

from __future__ import annotations

import http.server
import os
import threading
from collections.abc import Iterator
from inspect import ismodule
from pathlib import Path
from typing import Any, ClassVar

import pytest
import scipy.optimize

from deploy.live import engine
from deploy.live.build import main
from deploy.live.lazy import lazy
from deploy.live.library import library
from dpsco_app.figure.plotly_script import plotly_licence

ROOT = Path(__file__).resolve().parents[2]


def test_a_missing_and_a_wrong_file_are_reported_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "engine"
    folder.mkdir()
    monkeypatch.setenv(engine.ENVIRONMENT, str(folder))
    assert main(["--out", str(tmp_path / "live")]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("dpsco: pyodide.mjs is missing in ") and complaint.count("\n") == 1
    (folder / "pyodide.mjs").write_bytes(b"another file")
    assert main(["--out", str(tmp_path / "live")]) == 2
    complaint = capsys.readouterr().err
    assert "its SHA-256 differs" in complaint and complaint.count("\n") == 1
    assert not (tmp_path / "live").exists()


class Release(http.server.BaseHTTPRequestHandler):
    """Serves files from memory below /full/, as the release does; None breaks off."""

    files: ClassVar[dict[str, bytes | None]] = {}
    paths: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        """Send a file, a file that is cut short, or an error."""
        self.paths.append(self.path)
        name = self.path.removeprefix("/full/")
        if name not in self.files:
            return self.send_error(404)
        content = self.files[name]
        self.send_response(200)
        self.send_header("Content-Length", str(99 if content is None else len(content)))
        self.end_headers()
        self.wfile.write(content or b"half")

    def log_message(self, *arguments: object) -> None:
        """Suppress the log message of a request."""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Release]]:
    """Serve the engine's files; yield the class of the server, whose `files` a test may change."""
    try:
        files = engine.engine_files(ROOT / "build" / "pyodide", ROOT / "here")
    except engine.EngineMissing as problem:
        pytest.fail(str(problem))
    handler = type("Mirror", (Release,), {"files": dict(files), "asked": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/full"
        monkeypatch.setenv(engine.ENVIRONMENT, address)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        yield handler
        server.shutdown()


def test_the_release_is_fetched_once_checked_and_kept(
    tmp_path: Path, mirror: type[Release]
) -> None:
    store = tmp_path / "kept"
    files = engine.engine_files(store, ROOT / "here")
    assert set(files) == set(engine.hashes()) and files == mirror.files
    assert sorted(mirror.paths) == sorted(f"/full/{name}" for name in files)
    assert {path.name: path.read_bytes() for path in store.iterdir()} == files
    assert engine.engine_files(store, ROOT / "here") == files
    assert len(mirror.paths) == len(files)


def test_a_wrong_release_is_reported_in_one_sentence_and_nothing_is_built(
    tmp_path: Path, mirror: type[Release], capsys: pytest.CaptureFixture[str]
) -> None:
    store, out = tmp_path / "kept", tmp_path / "live"
    words = ["--out", str(out), "--kept", str(store)]
    name = "python_stdlib.zip"
    good = mirror.files[name]
    cases: list[tuple[bytes | None, str]] = [
        (b"another file", f"{name} in {{address}} is not the file of Pyodide"),
        (None, f"{name} of Pyodide {engine.VERSION} could not be fetched from {{address}} ("),
    ]
    address = engine.release(os.environ)
    for content, sentence in cases:
        mirror.files[name] = content
        assert main(words) == 2
        printed = capsys.readouterr().err
        assert printed.startswith(f"dpsco: {sentence.format(address=address)}")
        assert printed.count("\n") == 1 and printed.endswith(".\n")
    del mirror.files[name]
    assert main(words) == 2
    printed = capsys.readouterr().err
    assert "HTTP Error 404" in printed and printed.count("\n") == 1
    assert not out.exists() and not (store / name).exists()
    mirror.files[name] = good
    # The download continues where it stopped.
    assert name in engine.engine_files(store, ROOT / "here")
    (store / name).write_bytes(b"half")
    assert main(words) == 2
    assert f"{name} in {store} is not the file" in capsys.readouterr().err


def test_an_unavailable_release_is_reported_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(engine.ENVIRONMENT, "http://127.0.0.1:9/full/")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert main(["--out", str(tmp_path / "live"), "--kept", str(tmp_path / "kept")]) == 2
    printed = capsys.readouterr().err
    assert "could not be fetched from http://127.0.0.1:9/full/ (" in printed
    assert printed.count("\n") == 1 and not (tmp_path / "live").exists()


def test_the_folder_is_the_named_one_or_one_above_the_checkout(tmp_path: Path) -> None:
    shared = tmp_path / "shared" / "pyodide"
    checkout = tmp_path / "a" / "checkout"
    checkout.mkdir(parents=True)
    assert engine.folder({}, checkout / "file") != shared
    shared.mkdir(parents=True)
    assert engine.folder({}, checkout / "file") == shared
    assert engine.folder({engine.ENVIRONMENT: "x"}, checkout / "file") == Path("x")
    assert engine.folder({engine.ENVIRONMENT: "https://x.org/full"}, checkout / "file") is None
    assert engine.release({engine.ENVIRONMENT: "https://x.org/full"}) == "https://x.org/full/"
    assert engine.release({}) == engine.release({engine.ENVIRONMENT: "x"}) == engine.RELEASE


def test_a_lazily_loaded_package_has_the_names_of_the_original() -> None:
    place = Path(scipy.optimize.__file__).parent
    files = {f"scipy/optimize/{p.name}": p.read_bytes() for p in place.glob("*.py")}
    module: dict[str, Any] = {"__name__": "scipy.optimize"}
    exec(lazy(files, "scipy/optimize"), module)
    offered = [n for n in scipy.optimize.__all__ if not ismodule(getattr(scipy.optimize, n))]
    assert len(offered) > 50
    for name in offered:
        assert module["__getattr__"](name) is getattr(scipy.optimize, name)
    assert module["brentq"] is scipy.optimize.brentq  # The attribute is kept after its first use.
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module["__getattr__"]("nothing")
    files["scipy/optimize/_zeros_py.py"] = b"def brentq(): ..."
    files["scipy/optimize/__init__.py"] = b"from ._zeros_py import *"
    with pytest.raises(KeyError, match="__all__ of _zeros_py"):
        lazy(files, "scipy/optimize")


def test_a_first_visit_downloads_little_beside_the_engine(folder: Path) -> None:
    """Plotly's basic bundle is most of the download, and the whole library would be four times as
    much.
    """
    page = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    assert (folder / "plotly.js").stat().st_size < 1_200_000 and page < 1_700_000
    assert (folder / "plotly.LICENSE.txt").read_text(encoding="utf-8") == plotly_licence()
    prepared = [path.stat().st_size for path in (folder / "prepared").iterdir()]
    assert max(prepared) < 100_000
    engine_bytes = sum(path.stat().st_size for path in (folder / "engine").iterdir())
    assert page + max(prepared) + engine_bytes < 34_000_000


def test_the_library_is_packed_without_the_dashboard_and_without_other_hosts() -> None:
    files = library()
    names = set(files)
    assert {"dpsco_app/static_page/visit.py", "dpsco_core/runs/study.py"} <= names
    assert {"dpsco_app/static_page/lessons.py", "dpsco_app/lessons/measure.py"} <= names
    assert not any("streamlit" in name or name.startswith("dpsco_core/cli") for name in names)
    texts = b"".join(files[n] for n in names if n.startswith("dpsco_app/"))
    assert b"import streamlit" not in texts and b"import pandas" not in texts

"""What the engine runs, packed: the library, the front page, and lean wheels."""

import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("numpy", "scipy", "threadpoolctl")
# Of the wheels: what no method imports. `tests/site` runs every method without it.
UNUSED = re.compile(
    r"(.*/tests?/|.*\.pyi$|.*\.pyx$|.*\.pxd$|.*\.[ch]$|numpy/_pyinstaller/"
    r"|scipy/(io|signal|odr|cluster|datasets|fftpack|misc)/|.*/_?lapack_subroutines|.*\.a$)"
)
# Of the library: what needs a terminal, processes or a cluster.
ELSEWHERE = ("dpsco_core/cli/", "dpsco_core/audit/")
LISTED = """
import sys
import dpsco_app.site.visit
files = [m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "dpsco_app"]
print(*sorted(filter(None, files)), sep="\\n")
"""
LIBRARY = "dpsco.zip"
# What makes byte code of files, with the engine's own.
Compiled = Callable[[Mapping[str, bytes], Mapping[str, bytes]], dict[str, bytes]]
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files give the same archive


def archive(files: Mapping[str, bytes], level: int = 9) -> bytes:
    """Return a zip archive of files, the same at every time."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as out:
        for name, content in sorted(files.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, content)
    return made.getvalue()


def library() -> dict[str, bytes]:
    """Return the modules of the library, and those of the dashboard that the page needs."""
    core = list((ROOT / "dpsco_core").rglob("*.py"))
    listed = subprocess.run(
        [sys.executable, "-c", LISTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    own = [Path(line) for line in listed.stdout.splitlines()]
    names = {p.resolve().relative_to(ROOT).as_posix(): p for p in (*core, *own)}
    kept = {n: p for n, p in names.items() if not n.startswith(ELSEWHERE)}
    return {name: path.read_bytes() for name, path in kept.items()}


def members(packed: bytes) -> dict[str, bytes]:
    """Return the files of an archive."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {i.filename: archive.read(i) for i in archive.infolist() if not i.is_dir()}


def lean(wheel: bytes) -> dict[str, bytes]:
    """Return the files of a wheel without those that no method needs."""
    return {n: content for n, content in members(wheel).items() if not UNUSED.match(n)}


def engine(files: Mapping[str, bytes], compiled: Compiled | None = None) -> dict[str, bytes]:
    """Return the files of the engine: as they come, lean wheels, and the list that names them.

    And the library; with `compiled` all modules are byte code.
    """
    lock: dict[str, Any] = json.loads(files["pyodide-lock.json"])
    made = {n: c for n, c in files.items() if not n.endswith((".whl", "-lock.json"))}
    entries = {name: lock["packages"][name] for name in PACKAGES}
    parts = {LIBRARY: library()}
    parts |= {entry["file_name"]: lean(files[entry["file_name"]]) for entry in entries.values()}
    if compiled is not None:
        lock["packages"] = {}
        bare = made | {"pyodide-lock.json": json.dumps(lock).encode()}
        flat = {f"{part}/{n}": c for part, own in parts.items() for n, c in own.items()}
        module = compiled(flat, bare)
        parts = {part: _below(module, part) for part in parts}
    made |= {part: archive(own) for part, own in parts.items()}
    for entry in entries.values():
        entry["sha256"] = hashlib.sha256(made[entry["file_name"]]).hexdigest()
    lock["packages"] = entries
    return made | {"pyodide-lock.json": json.dumps(lock).encode()}


def _below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    start = f"{folder}/"
    return {n.removeprefix(start): c for n, c in files.items() if n.startswith(start)}

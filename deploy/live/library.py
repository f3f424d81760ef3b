"""What the engine runs, packed: the library, the front page, and lean wheels."""

import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from deploy.live.lazy import lazy

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("numpy", "scipy", "threadpoolctl")
# Of the wheels: what no method imports. `tests/site` runs every method without it.
UNUSED = re.compile(
    r"(.*/tests?/|.*\.pyi$|.*\.pyx$|.*\.pxd$|.*\.[ch]$|numpy/_pyinstaller/"
    r"|scipy/(io|signal|odr|cluster|datasets|fftpack|misc)/|.*/_?lapack_subroutines|.*\.a$)"
)
# Packages of which few modules are used: whoever imports one does not import them all.
LAZY = ("scipy/optimize",)
# Of the library: what needs a terminal.
TERMINAL_ONLY = ("dpsco_core/cli/",)
LISTED = """
import sys
import dpsco_app.static_page.lessons, dpsco_app.static_page.page
files = [m.__file__ for n, m in sys.modules.items() if n.split(".")[0] == "dpsco_app"]
print(*sorted(filter(None, files)), sep="\\n")
"""
LIBRARY = "dpsco.zip"
# What makes byte code of files, with the engine's own.
Compiled = Callable[[Mapping[str, bytes], Mapping[str, bytes]], dict[str, bytes]]
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files give the same archive


def archive(files: Mapping[str, bytes], level: int = 9) -> bytes:
    """Return a zip archive of files, the same at every time."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as out:
        for name, content in sorted(files.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            out.writestr(info, content)
    return stream.getvalue()


def library() -> dict[str, bytes]:
    """Return the modules of the library, and those of the dashboard that the page needs."""
    core = list((ROOT / "dpsco_core").rglob("*.py"))
    listed = subprocess.run(
        [sys.executable, "-c", LISTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    listed_paths = [Path(line) for line in listed.stdout.splitlines()]
    names = {p.resolve().relative_to(ROOT).as_posix(): p for p in (*core, *listed_paths)}
    needed = {n: p for n, p in names.items() if not n.startswith(TERMINAL_ONLY)}
    return {name: path.read_bytes() for name, path in needed.items()}


def members(packed: bytes) -> dict[str, bytes]:
    """Return the files of an archive."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return {i.filename: archive.read(i) for i in archive.infolist() if not i.is_dir()}


def lean(wheel: bytes) -> dict[str, bytes]:
    """Return the files of a wheel without those that no method needs, or needs at once."""
    files = {n: content for n, content in members(wheel).items() if not UNUSED.match(n)}
    return files | {f"{p}/__init__.py": lazy(files, p) for p in LAZY if f"{p}/__init__.py" in files}


def engine(files: Mapping[str, bytes], compiled: Compiled | None = None) -> dict[str, bytes]:
    """Return the files of the engine: as they come, lean wheels by their names, and the library.

    With `compiled` all modules are byte code.
    """
    lock: dict[str, Any] = json.loads(files["pyodide-lock.json"])
    engine_files = {n: c for n, c in files.items() if not n.endswith((".whl", "-lock.json"))}
    packages = lock.pop("packages")
    engine_files["pyodide-lock.json"] = json.dumps(lock | {"packages": {}}).encode()
    parts = {LIBRARY: library()}
    parts |= {f"{name}.whl": lean(files[packages[name]["file_name"]]) for name in PACKAGES}
    if compiled is not None:
        flat = {
            f"{part}/{n}": c for part, part_files in parts.items() for n, c in part_files.items()
        }
        module = compiled(flat, engine_files)
        parts = {part: _files_below(module, part) for part in parts}
    return engine_files | {part: archive(part_files) for part, part_files in parts.items()}


def _files_below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    start = f"{folder}/"
    return {n.removeprefix(start): c for n, c in files.items() if n.startswith(start)}

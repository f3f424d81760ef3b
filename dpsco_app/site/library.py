"""What the engine runs, packed: the library, the front page, and lean wheels."""

import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("numpy", "scipy", "threadpoolctl")
# Of the wheels: what no method imports. `tests/site` runs every method without it.
UNUSED = re.compile(
    r"(.*/tests?/|.*\.pyi$|.*\.pyx$|.*\.pxd$|.*\.[ch]$|numpy/(f2py|distutils|typing|_pyinstaller)/"
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
    core = [p for p in (ROOT / "dpsco_core").rglob("*.py")]
    listed = subprocess.run(
        [sys.executable, "-c", LISTED], cwd=ROOT, capture_output=True, text=True, check=True
    )
    own = [Path(line) for line in listed.stdout.splitlines()]
    names = {p.resolve().relative_to(ROOT).as_posix(): p for p in (*core, *own)}
    kept = {n: p for n, p in names.items() if not n.startswith(ELSEWHERE)}
    return {name: path.read_bytes() for name, path in kept.items()}


def lean(wheel: bytes) -> bytes:
    """Return a wheel without what no method imports."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as found:
        names = [i.filename for i in found.infolist() if not i.is_dir()]
        return archive({n: found.read(n) for n in names if not UNUSED.match(n)})


def engine(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of the engine: as they come, lean wheels, and the list that names them."""
    lock: dict[str, Any] = json.loads(files["pyodide-lock.json"])
    made = {n: c for n, c in files.items() if not n.endswith((".whl", "-lock.json"))}
    entries = {name: lock["packages"][name] for name in PACKAGES}
    for entry in entries.values():
        made[entry["file_name"]] = content = lean(files[entry["file_name"]])
        entry["sha256"] = hashlib.sha256(content).hexdigest()
    lock["packages"] = entries
    return made | {"pyodide-lock.json": json.dumps(lock).encode()}


def sizes(files: Iterable[bytes]) -> int:
    """Return the bytes of files together."""
    return sum(map(len, files))

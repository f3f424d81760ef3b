"""Byte code of the engine's own Python: it starts in half the time. It takes Node to make it."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from deploy.live.library import archive, members

SCRIPT = Path(__file__).parent / "compile.mjs"


def node() -> str:
    """Return the path of Node; empty where there is none."""
    try:
        import playwright
    except ImportError:
        return shutil.which("node") or ""
    bundled = Path(playwright.__file__).parent / "driver" / "node"
    return shutil.which("node") or (str(bundled) if bundled.exists() else "")


def compiled(
    files: Mapping[str, bytes], engine: Mapping[str, bytes], runner: str
) -> dict[str, bytes]:
    """Return files with byte code in the place of Python's sources."""
    sources = {name: text for name, text in files.items() if name.endswith(".py")}
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name, content in engine.items():
            (place / name).write_bytes(content)
        (place / "in.zip").write_bytes(archive(sources, 1))
        command = [runner, str(SCRIPT), folder, str(place / "in.zip"), str(place / "out.zip")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        modules = members((place / "out.zip").read_bytes())
    return {n: c for n, c in files.items() if n not in sources} | modules

"""The command `dpsco app`, which opens the dashboard."""

import argparse
import importlib.util
import subprocess
import sys
from typing import Any

from dpsco_core.base.errors import require
from dpsco_core.base.parsing import shorten


def add_app(commands: Any) -> None:
    """Add the command `app` to the parser."""
    parser = commands.add_parser("app", allow_abbrev=False)
    parser.set_defaults(does=open_dashboard)
    parser.add_argument("--port", help="port to listen on")
    parser.add_argument("--study", metavar="FILE", help="results that every visitor can open")


def open_dashboard(chosen: argparse.Namespace) -> int:
    """Run the dashboard until it is stopped, and return its exit status."""
    port: str | None = chosen.port
    command = [sys.executable, "-m", "dpsco_app", *(f"--with={path}" for path in chosen.own)]
    if chosen.study is not None:
        command.append(f"--study={chosen.study}")
    if port is not None:
        is_valid = (
            port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535
        )
        require(is_valid, "port", "an integer between 1 and 65,535", shorten(port))
        command += ["--server.port", port]
    if importlib.util.find_spec("streamlit") is None:
        install = "pip install 'dpsco-explorer[app]'"
        print(f"dpsco: The dashboard needs the extra 'app': {install}.", file=sys.stderr)
        return 2
    try:
        return subprocess.run(command, check=False).returncode
    except KeyboardInterrupt:
        return 0

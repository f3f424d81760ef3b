"""The environment that every test and its children start from, and the list of deliberate faults.

Children inherit `os.environ` as it stands here; `tests/test_environment.py` keeps it so.
"""

from __future__ import annotations

import gc
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Environment variables by which a user may have configured Python, Streamlit, Dask, a terminal, the
# dashboard or a browser. They are removed; a test about one of them sets it. The tests must pass
# under any others (libraries of linear algebra and their threads, language, time zone, HOME).
STRAY = re.compile(
    r"""
    PYTHON(?!PATH$|HOME$|DONTWRITEBYTECODE$|PYCACHEPREFIX$|HASHSEED$|UTF8$|COERCECLOCALE$|IOENCODING$).*
    | PYTEST_(?!CURRENT_TEST$|XDIST_).* | PY_COLORS
    | STREAMLIT_.* | DASK_.* | PWDEBUG | PLOTLY_.*
    | DPSCO_(?!SCREENSHOTS$).*
    | NO_COLOR | FORCE_COLOR | CLICOLOR(_FORCE)? | COLUMNS | LINES
    | \w+_proxy | \w+_PROXY
    | GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX)
    """,
    re.VERBOSE,
)
FAULT_PROPERTY = "deliberate fault"
LIST = ROOT / "test-results" / "mutants.txt"


def settle(environment: dict[str, str] | os._Environ[str]) -> None:
    """Remove stray settings, and let a child process find this checkout before any other."""
    for name in [name for name in environment if STRAY.fullmatch(name)]:
        del environment[name]
    paths = [str(ROOT), *environment.get("PYTHONPATH", "").split(os.pathsep)]
    environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, paths)))


settle(os.environ)  # This precedes the import of modules that read the environment.
# A shell makes its background processes ignore Ctrl-C, so the default handler is restored.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, which saves a tenth of the whole run."""
    gc.freeze()
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--with FILE`, by which tests of the catalogue also cover a plugin
    (docs/extend.md).
    """
    parser.addoption("--with", dest="own", metavar="FILE", action="append", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Load the plugins named by `--with`, and switch garbage collection off while tests are
    collected, as nearly all objects stay.
    """
    gc.disable()
    for path in config.getoption("own"):
        from dpsco_core.plugins import extend

        extend.load(path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the surviving faults that `tests/trust/test_mutants.py` has reported, from all workers,
    and print how many there are.
    """
    reports: list[Any] = terminalreporter.getreports("passed")
    lines = sorted(
        {text for r in reports for name, text in r.user_properties if name == FAULT_PROPERTY}
    )
    if not lines:
        return
    LIST.parent.mkdir(exist_ok=True)
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")
    terminalreporter.write_sep("-", f"{len(lines)} deliberate faults found out")
    terminalreporter.write_line("The list, with what found each: test-results/mutants.txt")
    if terminalreporter.verbosity > 0:
        for line in lines:
            terminalreporter.write_line(line)

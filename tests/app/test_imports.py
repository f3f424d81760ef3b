"""The allowed imports between the parts of the dashboard, each rule shown to catch a violation."""

from __future__ import annotations

import pytest

from dpsco_app.front import links
from dpsco_app.shell.main import DRAW
from tests.test_architecture import imported, modules, target

PAGES = "dpsco_app.pages"
DRAWING_MODULES = {draw.__module__ for draw in DRAW.values()}  # A page may be a single file.
# What the shell offers to pages and parts: addresses, the visit, a page's state, and its window.
OFFERED = {"names", "page_state", "places", "teaching", "visit", "window"}


def page_of(module: str) -> str:
    """Return the name of the page that a module belongs to; "" for what pages share."""
    parts = module.split(".")
    is_of_page = module.startswith(f"{PAGES}.") and (len(parts) > 3 or module in DRAWING_MODULES)
    return parts[2] if is_of_page else ""


def faults(module: str, source: str) -> list[str]:
    """Return a module's forbidden imports, each as a sentence.

    A page may import only the state of another page, to make a link to it. Only the shell, which
    draws the pages, and files in the folder of pages may import a page; only the shell imports the
    shell's internals.
    """
    package, part, *_ = [*module.split("."), ""]
    if package != "dpsco_app" or part == "shell":
        return []
    wrong = []
    for name, line in imported(module, source):
        imported_name = target(name)
        other_page = page_of(imported_name)
        if imported_name.startswith(PAGES) and part != "pages":
            wrong.append(f"{module}:{line} imports {imported_name}, and is not a page")
        elif other_page not in ("", page_of(module)) and not imported_name.endswith(".state"):
            wrong.append(f"{module}:{line} imports {imported_name}, which is another page's")
        elif imported_name.startswith("dpsco_app.shell.") and part in ("pages", "parts"):
            if imported_name.split(".")[2] not in OFFERED:
                wrong.append(f"{module}:{line} imports {imported_name}, which is the shell's own")
        elif (
            part == "figure"
            and imported_name.startswith("dpsco_app.")
            and ".figure" not in imported_name
        ):
            wrong.append(f"{module}:{line} imports {imported_name}; a figure is plain values")
    return wrong


def test_the_modules_of_the_dashboard_import_only_what_the_rule_allows() -> None:
    sources = modules()
    assert "dpsco_app.pages.explore.page" in sources
    wrong = [fault for module, source in sources.items() for fault in faults(module, source)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("dpsco_app.pages.users.page", "from dpsco_app.pages.bounds.words import about"),
        ("dpsco_app.pages.users.page", "from dpsco_app.pages.bounds import words"),
        ("dpsco_app.pages.users.page", "from dpsco_app.pages.private_mean import page"),
        ("dpsco_app.pages.users.page", "from dpsco_app.pages import why"),
        ("dpsco_app.pages.why", "from dpsco_app.pages.private_mean import STATE"),
        ("dpsco_app.pages.users.page", "from dpsco_app.shell.serve import serve"),
        ("dpsco_app.parts.export", "from dpsco_app.shell import main"),
        ("dpsco_app.parts.export", "from dpsco_app.pages.users.state import View"),
        ("dpsco_app.front.panel", "from dpsco_app.pages.first_screen import FirstScreen"),
        ("dpsco_app.figure.render", "from dpsco_app.parts.options import number_text"),
    ],
)
def test_the_rule_catches_a_fault(module: str, source: str) -> None:
    assert faults(module, source)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("dpsco_app.pages.users.page", "from dpsco_app.pages.users import words"),
        ("dpsco_app.pages.users.page", "from dpsco_app.pages.one_run.state import anatomy_query"),
        ("dpsco_app.pages.users.page", "from dpsco_app.pages.first_screen import FirstScreen"),
        ("dpsco_app.pages.users.page", "from dpsco_app.shell import visit, window"),
        ("dpsco_app.shell.main", "from dpsco_app.pages.users.page import page"),
    ],
)
def test_the_rule_accepts_sound_code(module: str, source: str) -> None:
    assert not faults(module, source)


def test_only_one_module_parses_links() -> None:
    parsing = {module for module, source in modules().items() if "parse_qs" in source}
    assert {module for module in parsing if module.startswith("dpsco_app.")} == {links.__name__}
    assert links.parameters("n=5&pin=&n=7&odd") == {"n": "7", "pin": "", "odd": ""}
    for wrong in ("n=5&odd", "n=5&p=3"):
        with pytest.raises(ValueError, match="bad query field|Max number of fields"):
            links.parameters(wrong, max_fields=1)

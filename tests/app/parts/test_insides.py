"""One file names the parts of Streamlit's own page, each with a reason, and no file names its
code.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st

from dpsco_app.parts import insides
from dpsco_app.shell import preload

INSIDES_FILE = "parts/insides.py"
PACKAGE = Path(insides.__file__).parents[1]
# Matches code that reaches into Streamlit's page: names of its parts, and of the libraries that it
# uses.
PRIVATE = re.compile(
    r"data-testid|data-baseweb|data-rac|data-variant|data-collapsed|st-emotion|\bst[A-Z]\w+"
)
CLASSES = re.compile(r"(\[class[*^$]?=[\"']?)([\w-]+)")
KEY = "st-key-"  # The beginning of the class that Streamlit derives from a widget's key.
# The largest allowed number of places that reach into Streamlit's page; it may only fall.
MOST_PARTS = 8


def private_parts(text: str) -> list[str]:
    """Return the parts of a file's text that reach into Streamlit's page.

    A selector by a part of a class name is allowed only for the class of a key.
    """
    reached = PRIVATE.findall(text)
    for match in CLASSES.finditer(text):
        begun, part = match.groups()
        of_a_key = re.search(rf"{KEY}['\"]\](:is\([^)]*)?$", text[: match.start()])
        if not (part.startswith(KEY) or of_a_key):
            reached.append(begun + part)
    return reached


def sources() -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each source file of the dashboard that is not vendored."""
    for path in sorted(PACKAGE.rglob("*")):
        is_ours = path.parent.name != "plotly"  # The script in the folder "plotly" is vendored.
        if path.suffix in (".py", ".js", ".css", ".html") and is_ours:
            yield path.relative_to(PACKAGE).as_posix(), path.read_text(encoding="utf-8")


def test_no_other_file_reaches_into_streamlits_page() -> None:
    reached = {name: parts for name, text in sources() if (parts := private_parts(text))}
    assert {*reached} == {INSIDES_FILE}, reached


def imported_streamlit_modules(source: str) -> list[str]:
    """Return the Streamlit modules that a file imports, other than `streamlit` itself."""
    imports = re.findall(r"^ *(from|import) (streamlit\b[.\w]*)", source, re.MULTILINE)
    return [name for word, name in imports if "." in name or word == "from"]


def test_no_other_file_imports_a_module_inside_streamlit() -> None:
    reached = {
        name: parts for name, text in sources() if (parts := imported_streamlit_modules(text))
    }
    assert {*reached} == {INSIDES_FILE}, reached
    assert imported_streamlit_modules("    from streamlit.runtime import get_instance")
    assert imported_streamlit_modules("import streamlit.config") and imported_streamlit_modules(
        "from streamlit import x"
    )
    assert not imported_streamlit_modules("import streamlit as st")


def test_the_imports_from_inside_streamlit_work_as_expected() -> None:
    assert isinstance(st.container(), insides.DeltaGenerator)
    assert isinstance(st.Page(lambda: None, title="A", url_path="a"), insides.StreamlitPage)
    assert not insides.is_manually_set("browser.serverAddress")
    assert insides.get_script_run_ctx(suppress_warning=True) is None  # No page runs in this test.
    assert (insides.STATIC / "index.html").exists()
    assert insides.CACHE_LOG in logging.root.manager.loggerDict


@pytest.mark.parametrize(
    "fault",
    [
        "[data-testid=stMain] p { margin: 0 }",
        'document.querySelector("[data-baseweb=select]")',
        ".stMarkdown p { color: red }",
        "button[data-variant=pills]",
        '[class*="st-emotion-cache"]',
        "[class*=figure] svg",
        "[class*='_files'] { display: none }",
    ],
)
def test_a_selector_of_streamlits_page_is_detected(fault: str) -> None:
    assert private_parts(fault)


@pytest.mark.parametrize(
    "fine",
    [
        ".st-key-page { margin: 0 }",
        '[class*="st-key-learn_door_"] a',
        "[class*='st-key-'][class*='_files'] { display: none }",
        "[class*='st-key-']:is([class*='_link '], [class$='_link']) { display: none }",
        "static, start, style, status",
    ],
)
def test_a_selector_of_the_dashboards_own_key_is_allowed(fine: str) -> None:
    assert private_parts(fine) == []


def test_each_part_has_a_reason_and_there_are_few() -> None:
    text = Path(insides.__file__).read_text(encoding="utf-8")
    blocks = text.split('"""')[-1].strip().split("\n\n")
    names = re.findall(r"^([A-Z_]+) = ", text, re.MULTILINE)
    selectors = [name for name in names if name not in ("STATIC", "CACHE_LOG")]
    assert len(selectors) <= MOST_PARTS and all("[" in vars(insides)[name] for name in selectors)
    assert all(block.startswith("# ") for block in blocks if not block.startswith("import"))


def test_plotlys_script_is_found_by_its_content() -> None:
    (script,) = preload.plotly_scripts()
    assert preload.PLOTLY in (preload.STATIC / script).read_bytes()
    assert (
        preload.preload_links()
        == f'<script type="module" crossorigin src="{script}"></script>'.encode()
    )


def test_no_file_names_a_part_of_streamlits_code() -> None:
    scripts = (preload.STATIC / preload.plotly_scripts()[0]).parent.glob("[A-Z]*.js")
    bundles = {path.name.split(".")[0] for path in scripts}
    assert len(bundles) > 50
    text = Path(preload.__file__).read_text(encoding="utf-8")
    assert bundles & {*re.findall(r"\w+", text)} == set()
    part_name = re.compile(rf"\b(?:{'|'.join(sorted(bundles))})\.(?:\w+\.|\*\.)?js\b")
    assert {name: files for name, text in sources() if (files := part_name.findall(text))} == {}


def test_a_page_has_no_preload_link_if_plotly_is_not_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(preload, "STATIC", tmp_path)
    assert preload.plotly_scripts() == []
    index = '<script type="module" crossorigin src="./code/index.js"></script>'
    (tmp_path / "index.html").write_text(index, encoding="utf-8")
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "other.js").write_text("let a = 1", encoding="utf-8")
    assert preload.plotly_scripts() == []
    (tmp_path / "code" / "any.js").write_bytes(b"/*! plotly.js v9 */")
    assert preload.plotly_scripts() == ["./code/any.js"]

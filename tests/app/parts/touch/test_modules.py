"""The scripts of interactive figures: small modules, joined into one."""

from __future__ import annotations

import json
import re

import pytest
import streamlit as st

from dpsco_app.figure.colours import INK
from dpsco_app.parts.touch.components import component
from dpsco_app.parts.touch.modules import FOLDER, script, text
from dpsco_app.parts.touch.picture import picture_data, picture_page
from dpsco_app.parts.touch.run import RunLine, run_page
from dpsco_core.explain.anatomy import single_runs
from dpsco_core.explain.frames import frames
from dpsco_core.scenario import Scenario

COMPONENT_NAME = re.compile(r'components\.v2\.component\(\s*f?"([^"]*)"')
SCRIPTS = sorted(FOLDER.glob("*.js"))


def test_all_scripts_together_are_small_and_none_is_minified() -> None:
    assert len(SCRIPTS) >= 3
    assert sum(path.stat().st_size for path in SCRIPTS) < 120_000
    for path in SCRIPTS:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert max(map(len, lines)) <= 110 and len(lines) <= 400, path.name


def test_a_joined_script_holds_each_module_once_and_imports_nothing() -> None:
    joined = script("picture.js")
    for name in ("clipping.js", "canvas.js", "picture.js"):
        assert joined.count(text(name).splitlines()[0]) == 1
    assert "import " not in joined
    assert joined.count("export ") == joined.count("export default") == 1
    assert joined.index("const clipped =") < joined.index("const situation =")


def test_a_component_is_created_only_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A component that is created again while a page shows it disappears from that page."""
    components: list[str] = []
    monkeypatch.setattr(
        st.components.v2, "component", lambda name, **_: components.append(name) or name
    )
    names = [path.stem for path in SCRIPTS if "\nexport default" in text(path.name)]
    component.cache_clear()
    try:
        for name in 2 * names:
            component(name, html="")
    finally:
        component.cache_clear()
    assert components == [f"dpsco_touch_{name}" for name in names]
    assert len(components) > 8


def test_components_have_different_names() -> None:
    """The server identifies a component by its name, so a second one would replace the first."""
    sources = (path.read_text(encoding="utf-8") for path in FOLDER.parents[1].rglob("*.py"))
    names = [name for source in sources for name in COMPONENT_NAME.findall(source)]
    assert names == ["dpsco_touch_{name}"]


def test_no_script_contacts_another_host() -> None:
    for path in SCRIPTS:
        source = path.read_text(encoding="utf-8")
        assert not [w for w in ("http:", "https:", "fetch(", "eval(", "Function(") if w in source]


def test_the_exported_page_contains_its_numbers_and_script_and_contacts_no_host() -> None:
    scenario = Scenario(distribution="skewed-pareto")
    page = picture_page(scenario)
    assert json.dumps(picture_data(scenario, dark=False)["samples"][0]["ladder"]) in page
    point = Scenario(problem="linear", methods=("sco.clipped",), n=100, d=2)
    runs = single_runs(point, "sco.clipped")
    lines = [RunLine(name=name, path=path, colour=INK) for name, path in runs.items()]
    run = run_page(frames(point, runs), lines, dark=True, identity="", title="a < b")
    assert json.dumps(runs["exact"].risks.tolist()) in run and "<title>a &lt; b" in run
    for html in (page, run):
        assert "http://" not in html and "https://" not in html and "import {" not in html


def test_the_picture_restarts_only_if_its_numbers_change() -> None:
    def identity(dark: bool = False, **fields: object) -> object:
        """Return the identity of a scenario's picture."""
        return picture_data(Scenario(**fields), dark=dark)["id"]  # type: ignore[arg-type]

    assert identity() == identity(dark=True) == identity(trials=7)
    other_ids = [identity(seed=1), identity(delta=1e-5), identity(epsilon=5.0), identity(n=300)]
    assert len({identity(), *other_ids}) == 5

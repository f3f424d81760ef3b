"""Plotly's basic bundle is the published one, and can draw everything that the pages draw."""

from __future__ import annotations

import ast
import hashlib
import re

import pytest
from plotly.offline import get_plotlyjs, get_plotlyjs_version

from dpsco_app.figure.plotly_script import (
    FOLDER,
    TRACES,
    VERSION,
    plotly_licence,
    plotly_script,
)
from dpsco_app.figure.theme import SIZES, Theme
from dpsco_app.parts.export import figure_html
from dpsco_app.parts.presets import PRESETS, Preset
from dpsco_app.static_page.visit import Visit
from tests.test_architecture import modules


def test_the_bundle_is_byte_for_byte_the_published_one() -> None:
    lines = (FOLDER / "plotly.sha256").read_text(encoding="utf-8").splitlines()
    listed = {name: digest for digest, name in (line.split() for line in lines)}
    files = {path.name: path.read_bytes() for path in FOLDER.iterdir()}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    assert listed == {name: digests[name] for name in digests if name != "plotly.sha256"}
    assert set(listed) == {"plotly-basic.min.js", "LICENSE"}


def test_its_version_is_the_one_of_the_installed_package() -> None:
    """Figures of one major version of Plotly look alike in the dashboard and in its files."""
    assert f"plotly.js (basic - minified) v{VERSION}\n" in plotly_script()[:100]
    assert get_plotlyjs_version().split(".")[0] == VERSION.split(".")[0]


def test_the_bundle_includes_its_licence() -> None:
    assert plotly_licence().startswith("MIT License\n\nCopyright (c) 2016-2024 Plotly")
    assert "Licensed under the MIT license" in plotly_script()[:300]


def test_the_bundle_is_a_quarter_of_the_whole_library() -> None:
    size = len(plotly_script().encode())
    assert size < 1_200_000 and 4 * size < len(get_plotlyjs().encode())


def test_the_bundle_registers_the_declared_traces() -> None:
    """A bundle registers each of its traces under a name that no other bundle has."""
    trace_types = set(re.findall(r'moduleType:"trace",name:"(\w+)"', plotly_script()))
    assert trace_types == set(TRACES)
    assert "heatmap" in re.findall(r'moduleType:"trace",name:"(\w+)"', get_plotlyjs())


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.slug)
def test_every_figure_of_the_presets_has_only_traces_that_it_draws(preset: Preset) -> None:
    visit = Visit()
    visit.start(preset.slug)
    visit.change("trials", 1)
    visit.step(20.0)
    for name in ("compact", "wide"):
        figure = visit.screen(Theme(dark=False, size=SIZES[name]))["figure"]
        types = {trace["type"] for trace in figure["data"]}
        assert types and types <= set(TRACES)


def other_types(source: str) -> list[str]:
    """Return the trace types in a source, besides the type assigned by `trace`."""
    return [
        ast.unparse(word.value)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "trace"
        for word in node.keywords
        if word.arg == "type"
    ]


def test_the_renderer_makes_no_other_traces() -> None:
    """So every figure that can be saved as a page, including maps, needs only this bundle."""
    sources = {n: s for n, s in modules().items() if n.startswith("dpsco_app.figure.")}
    assert "dpsco_app.figure.panel_box" in sources and figure_html.__module__ not in sources
    type_of_trace = re.compile(r'"type": "(\w+)"')
    for name, source in sources.items():
        assert other_types(source) == [], name
        shapes = {"line", "rect"} if "ruler" in name else set()  # Every bundle draws these shapes.
        assert set(type_of_trace.findall(source)) <= {"scatter", "log", "linear"} | shapes, name


def test_an_unsupported_trace_is_detected() -> None:
    assert other_types("trace(place, type='heatmap', z=z)") == ["'heatmap'"]

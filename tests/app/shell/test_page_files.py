"""Files of the pages: scripts print the numbers that are shown, figures become whole pages."""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.figure.colours import METHODS, PAGE
from dpsco_app.figure.values import Axis, Figure, Ladder, LadderRow, Line, Panel
from dpsco_app.front.links import BASE
from dpsco_app.pages.geometry.state import STATE as GEOMETRY
from dpsco_app.pages.geometry.state import shape_of
from dpsco_app.pages.one_run.figures import percent
from dpsco_app.pages.scripts import anatomy_script, regimes_script, users_script
from dpsco_app.pages.users.state import View as UsersView
from dpsco_app.pages.users.state import fit
from dpsco_app.parts.export import figure_html, setting_line
from dpsco_core.catalogue import method_card
from dpsco_core.explain.anatomy import share_clipped
from dpsco_core.explain.geometry import nearest, sweep, width_table
from dpsco_core.results.notebook import script_to_notebook
from dpsco_core.runs.study import canonical
from dpsco_core.scenario import Scenario
from tests.app.pages import BASES
from tests.app.places.test_one_run import SMALL, open_anatomy, open_at, radius_text


def printed_tables(script: str) -> dict[str, pd.DataFrame]:
    """Run a script as a notebook would, cell by cell; return the tables that it prints, by their
    titles.
    """
    out = io.StringIO()
    names: dict[str, object] = {}
    with redirect_stdout(out):
        for cell in json.loads(script_to_notebook(script))["cells"]:
            exec("".join(cell["source"]), names)
    blocks = re.split(r"^# ", out.getvalue(), flags=re.MULTILINE)[1:]
    return {b.split("\n", 1)[0]: pd.read_csv(io.StringIO(b.split("\n", 1)[1])) for b in blocks}


def table_with(page: AppTest, column: str) -> pd.DataFrame:
    """Return the first table of a page that has the column."""
    return next(d.value for d in page.dataframe if column in d.value.columns)


def expect_files(page: AppTest) -> None:
    """Check that the page offers its script and the notebook made from it."""
    labels = [b.label for b in page.get("download_button")]
    assert "Python: a script" in labels and "Notebook: the same in Jupyter" in labels


def test_the_script_of_anatomy_prints_what_the_page_shows() -> None:
    page = open_anatomy()
    expect_files(page)
    scenario = Scenario.from_query(SMALL, BASES["one_run"])
    point, method = canonical(scenario), scenario.methods[0]
    tables = printed_tables(anatomy_script(point, method, scenario.trials, parts=True))
    path = table_with(page, "Excess risk")
    expected = np.concatenate(
        [
            table["risk"].to_numpy()
            for name, table in tables.items()
            if name.startswith(("path", "answer"))
        ]
    )
    assert path["Excess risk"].to_numpy() == pytest.approx(expected, rel=1e-12)
    parts, split = table_with(page, "Clip radius"), tables["parts of the error"]
    assert parts["Whole error"].to_numpy() == pytest.approx(split["total"].to_numpy(), rel=1e-12)
    assert parts["Clipping bias"].to_numpy() == pytest.approx(split["bias"].to_numpy(), rel=1e-12)
    norms = tables["gradient norms"]["norm"].to_numpy()
    chosen = float(split["radii"].iloc[len(split) // 2])
    assert len(norms) == point.n
    assert percent(share_clipped(norms, chosen)).replace("none", "no gradient") in radius_text(page)


def test_the_script_of_regimes_prints_what_the_page_shows() -> None:
    page = open_at("who_wins", reading="rates")
    expect_files(page)
    point = BASES["who_wins"]
    tables = printed_tables(regimes_script(point, "n-epsilon", "rates"))
    table, values = table_with(page, "Tied"), tables["the best over the plane, row by row"]
    assert len(table) == len(values) == 33 * 25
    names = [c for c in table.columns if c.endswith(", holds")]
    assert len(names) == len(point.methods)
    slugs_by_name = {method_card(m).name: m for m in point.methods}
    best = [slugs_by_name.get(name, "") for name in table["Best"]]
    assert best == values["best"].fillna("").tolist() and "" in best
    for name, slug in zip(names, point.methods, strict=True):
        rate = table[name.removesuffix(", holds")].to_numpy()
        known_rates = values[slug].replace(float("inf"), float("nan")).to_numpy()
        assert rate == pytest.approx(known_rates, rel=1e-12, nan_ok=True)


def test_the_numbers_of_each_part_of_geometry_are_those_of_the_library() -> None:
    query = {"geometry": "lq", "q": "1.25", "noise_q": "1.3", "noise_d": "3", "seed": "2"}
    view, problems = GEOMETRY.from_query(query)
    assert not problems
    shape = shape_of(Scenario.from_query(query, BASE))
    for part, column, expected in (
        ("set", "Projection P(x)", nearest(shape, (view.x1, view.x2)).nearest),
        ("width", "At most", [row.width.upper for row in width_table(shape.q)]),
        ("noise", "Measured", [row.mean for row in sweep(view.noise_d, view.seed)]),
    ):
        table = table_with(open_at("geometry", part=part, **query), column)
        assert table[column].to_numpy() == pytest.approx(np.array(expected), rel=1e-12)


def users_at(**query: str) -> tuple[AppTest, dict[str, pd.DataFrame]]:
    """Return the page Users at a small setting, and the tables that its script prints."""
    page = open_at("users", n="2000", d="2", trials="2", **query)
    expect_files(page)
    scenario = fit(Scenario.from_query({"n": "2000", "d": "2", "trials": "2"}, BASE))
    return page, printed_tables(users_script(UsersView(**query), scenario))


def test_the_script_of_users_prints_what_each_part_shows() -> None:
    page, tables = users_at()
    mean = np.concatenate([table["mean"].to_numpy() for table in tables.values()])
    law = table_with(page, "RMS distance")
    assert law["Mean excess risk"].to_numpy() == pytest.approx(mean, rel=1e-12)

    page, tables = users_at(part="feasibility")
    page_table, needs = table_with(page, "Privacy budget ε"), tables["least users"]
    for page_column, script_column in zip(page_table.columns, needs.columns, strict=True):
        column = needs[script_column].replace(np.inf, np.nan).to_numpy()
        assert page_table[page_column].astype(float).to_numpy() == pytest.approx(
            column, nan_ok=True
        )

    page, tables = users_at(part="map", basis="rates")
    expect_map(page, tables["map"])


@pytest.mark.slow
def test_the_script_of_the_measured_map_prints_what_it_shows() -> None:
    page, tables = users_at(part="map")
    expect_map(page, tables["map"])


def expect_map(page: AppTest, printed_map: pd.DataFrame) -> None:
    """Check that the map's table has the script's numbers."""
    table = table_with(page, "Tied")
    for k, name in enumerate(c for c in table.columns if c.endswith(", holds")):
        rate = table[name.removesuffix(", holds")].astype(float).to_numpy()
        column = printed_map.iloc[:, 2 + k].replace(np.inf, np.nan).to_numpy()
        assert rate == pytest.approx(column, nan_ok=True)


class Loads(HTMLParser):
    """Collects the resources that a page would load, and its text."""

    def __init__(self) -> None:
        """Begin without any loaded file, text or tag."""
        super().__init__()
        self.loads: list[str] = []
        self.text = ""
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag and the files that it loads."""
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in ("src", "href", "data")]

    def handle_data(self, data: str) -> None:
        """Note a piece of text."""
        self.text += data


@pytest.mark.parametrize("dark", [False, True])
def test_a_figure_becomes_a_page_that_loads_nothing(dark: bool) -> None:
    title = "n < 100: the error is <b>flat</b>"
    line = Line(key="e", name="Error", x=[1, 2], y=[3, 4], colour=METHODS["grey"])
    axis = Axis(title="", low=1, high=4, ticks=[(1, "1")])
    row = LadderRow(key="e", name="Error", colour=METHODS["grey"], values=["<i>4</i>"], end=4)
    figure = Figure(
        panels=[Panel(title="", x=axis, lines=[line])],
        y=axis,
        ladder=Ladder(title="", columns=["error"], rows=[row]),
        alt=title,
    )
    setting = setting_line(Scenario(trials=7))
    page = figure_html(figure, dark=dark, setting=setting)
    read = Loads()
    read.feed(page)
    assert page.startswith("<!doctype html>") and read.loads == []
    assert "@import" not in page.split("</style>")[0]
    assert setting in read.text and "<i>4</i>" in read.text
    # The title is shown literally and not as markup.
    assert title in read.text and "b" not in read.tags
    assert "Plotly.react" in page and PAGE[dark] in page
    assert len(page.encode()) < 1_250_000  # Plotly's script accounts for 1.2 MB.


def test_the_setting_of_a_picture_is_one_line_of_plain_symbols() -> None:
    swept = Scenario(axis="n", grid=(500, 20_000), trials=7, seed=3)
    line = setting_line(swept)
    assert line == (
        "Mean estimation, Student t, n = 500 to 20,000, d = 20, p = 3, ε = 1, δ = 10⁻⁶, "
        "7 trials, seed 3"
    )
    concentrated = Scenario(epsilon=None, delta=None, rho=0.5, geometry="l1")
    assert "ρ = 0.5" in setting_line(concentrated) and "ε" not in setting_line(concentrated)
    assert "ℓ₁ ball" in setting_line(concentrated)
    assert "seed" not in setting_line(swept, runs=False)

"""Results and figures as files: tables, scripts, notebooks, pages, and the browser's pictures."""

import html
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dpsco_app.figure.colours import INK, PAGE, QUIET
from dpsco_app.figure.plotly_script import plotly_script
from dpsco_app.figure.render import plotly
from dpsco_app.figure.table import ladder_table
from dpsco_app.figure.theme import COMPACT, WIDE, Theme
from dpsco_app.figure.values import Figure
from dpsco_app.parts.folding import fold
from dpsco_app.parts.html import html_page
from dpsco_app.parts.options import SYMBOL, number_text
from dpsco_app.parts.problem_words import geometry_name
from dpsco_app.parts.touch.components import component
from dpsco_app.session.result import Result
from dpsco_app.shell import teaching
from dpsco_core.catalogue import distribution_card, problem_card
from dpsco_core.results import notebook
from dpsco_core.results.intervals import runs_json
from dpsco_core.results.tables import frame
from dpsco_core.scenario import Scenario

Table = Callable[[], pd.DataFrame]
Make = str | Callable[[], str] | Callable[[], bytes]

TYPES = {
    "csv": "text/csv",
    "html": "text/html",
    "ipynb": "application/x-ipynb+json",
    "pdf": "application/pdf",
    "json": "application/json",
    "py": "text/x-python",
}


def download(label: str, make: Make, file: str, **more: Any) -> None:
    """Draw a download button; `make` is the content of the file, or makes it at the click."""
    st.download_button(label, make, file, TYPES[file.rsplit(".", 1)[1]], on_click="ignore", **more)


# -- the files of a run, and the numbers of a page ------------------------------------------


def csv_text(result: Result) -> str:
    """Return the results as CSV, one row per (method, x, trial).

    If there are several runs, a column names each of them.
    """
    tables = [
        frame(part.outcomes).assign(run=run, geometry=part.scenario.geometry, p=part.scenario.p)
        for run, part in result.parts_by_name.items()
    ]
    if len(tables) > 1:
        return pd.concat(tables).to_csv(index=False)
    return frame(result.outcomes).to_csv(index=False)


def json_text(result: Result) -> str:
    """Return all runs of a result as JSON."""
    return runs_json(
        {name: (run.scenario, run.outcomes) for name, run in result.parts_by_name.items()}
    )


def draw_run_files(
    result: Result, lines: Mapping[str, Sequence[str]], formulas: Sequence[str]
) -> None:
    """Draw the buttons that save a run as CSV, JSON, a script and a notebook.

    The notebook draws the bounds in `lines`, by name, and the `formulas` of the page's figure.
    """
    scenarios = [part.scenario for part in result.parts]
    for label, make, file in (
        ("CSV: every cell", partial(csv_text, result), "dpsco-cells.csv"),
        ("JSON: results and bounds", partial(json_text, result), "dpsco-run.json"),
        (
            "Python: the same run as a script",
            partial(notebook.run_script, scenarios),
            "dpsco_run.py",
        ),
        (
            "Notebook: the same run in Jupyter",
            partial(notebook.run_notebook, scenarios, lines, formulas),
            "dpsco_run.ipynb",
        ),
    ):
        download(label, make, file, width="stretch")


def draw_page_files(page: str, script: Callable[[], str]) -> None:
    """Draw the popover that saves a page's numbers as a script in the percent format."""

    def draw() -> None:
        """Draw the buttons for the script and the notebook of the page."""
        st.markdown("The numbers of this page, made again by the library.")
        for label, make, end in (
            ("Python: a script", script, "py"),
            (
                "Notebook: the same in Jupyter",
                lambda: notebook.script_to_notebook(script()),
                "ipynb",
            ),
        ):
            download(label, make, f"dpsco_{page}.{end}", width="stretch", key=f"{page}_{end}")

    fold("Export", draw, f"{page}_export", kind="popover", icon=":material/download:")


# -- the files of a figure, and the numbers behind it ----------------------------------------


def setting_line(scenario: Scenario, *, runs: bool = True) -> str:
    """Return a scenario as one line of text; with `runs` it has the trials and the seed."""
    axis = scenario.axis
    fields = ["n", "d", "p", "epsilon", "delta", "rho"]
    fields += ["m"] if scenario.m > 1 or axis == "m" else []
    values = {name: getattr(scenario, name) for name in fields}
    texts = {k: f"{SYMBOL[k]} = {number_text(v)}" for k, v in values.items() if v is not None}
    if axis is not None and scenario.grid:
        ends = (scenario.grid[0], scenario.grid[-1])
        texts[axis] = f"{SYMBOL[axis]} = {' to '.join(map(number_text, ends))}"
    parts = [
        problem_card(scenario.problem).name,
        distribution_card(scenario.distribution).name,
        "" if scenario.geometry == "l2" else geometry_name(scenario.geometry, scenario.q),
        *texts.values(),
        f"{scenario.trials:,} trial{'s' * (scenario.trials > 1)}" if runs else "",
        f"seed {scenario.seed}" if runs else "",
    ]
    return ", ".join(filter(None, parts))


def draw_source(setting: str) -> None:
    """Draw the source line below a figure that is alone on its page."""
    if teaching.current().is_figure:
        st.html(f"<p class='source'>{html.escape(setting)} · DP-SCO Explorer</p>")


def picture_buttons(name: str, title: str, key: str | None = None, *, setting: str = "") -> None:
    """Draw the buttons with which the browser saves the visible figure of a page as a picture.

    `name` is the page's, and empty on Explore; `title` and `setting` are texts in the picture.
    """
    component("files", "files.css")(
        key=key or f"{name}_pictures",
        data={
            "place": f"{name}_figure_" if name else "figure_",
            "file": f"dpsco-{(name or 'explore').strip('_')}",
            "title": title,
            "setting": setting,
        },
        width="content",
        height="content",
    )


def draw_files(
    name: str,
    numbers: Table,
    page: Callable[[], str] | None,
    setting: str,
    *,
    title: str = "",
    columns: Collection[str] = (),
    slide: Callable[[], bytes] | None = None,
) -> None:
    """Draw the fold below a figure with its files and the numbers behind it.

    `name` begins the keys and the file names. `page` and `slide` make the figure as a page and as a
    slide, if it has them. `title` is that of the pictures, empty if the browser makes none, and
    `columns` are those of a wide table that are shown; its file has all.
    """

    def draw() -> None:
        """Draw the buttons for the files of the picture and of its numbers."""
        table = numbers()
        with st.container(horizontal=True, key=f"{name}_files"):
            if title:
                picture_buttons(name, title, setting=setting)
            if page is not None:
                download(
                    "HTML",
                    page,
                    f"dpsco-{name}.html",
                    key=f"{name}_html",
                    help="The figure as a page of its own, which needs no network.",
                )
            if slide is not None:
                download(
                    "Slide",
                    slide,
                    f"dpsco-{name}-slide.pdf",
                    key=f"{name}_slide",
                    help="One page of 16:9, as PDF: the headline, the figure and its settings.",
                )
            download(
                "CSV",
                lambda: str(table.to_csv(index=False)),
                f"dpsco-{name}.csv",
                key=f"{name}_csv",
            )
        show_table(table[[c for c in table if c in columns or not columns]])

    fold("Numbers behind this figure, and downloads", draw, f"{name}_fold_numbers")


def show_table(table: pd.DataFrame) -> None:
    """Draw a table with three significant digits, and whole sizes with thousands separators."""
    number = st.column_config.NumberColumn
    formats = {str(c): number(format="%.3g") for c in table.select_dtypes("float").columns}
    for symbol in SYMBOL.values():
        # Only whole numbers lose their decimals, since a small ε would otherwise appear as 0.
        if symbol in table and (table[symbol] % 1 == 0).all():
            formats[symbol] = number(format="localized")
    st.dataframe(table, hide_index=True, width="stretch", column_config=formats)


def figure_pdf(figure: Figure, setting: str) -> bytes:
    """Return a figure as a PDF for one column of a paper; `setting` is its subject."""
    # Importing Matplotlib takes a second, so it waits for the first click.
    from dpsco_app.figure.paper import pdf

    return pdf(figure, setting)


def figure_slide(
    figure: Figure, headline: Sequence[str], setting: str, *, dark: bool = False
) -> bytes:
    """Return a figure as a 16:9 slide with its headline and its source."""
    # Importing Matplotlib takes a second, so it waits for the first click.
    from dpsco_app.figure.slide import slide

    return slide(figure, headline, f"{setting}. Made by DP-SCO Explorer.".lstrip(". "), dark=dark)


def figure_html(figure: Figure, *, dark: bool = False, setting: str = "") -> str:
    """Return a figure with its ladder of numbers as a page that needs no network.

    On a phone the panels are stacked, and the ladder is a table.
    """
    wide, narrow = (Theme(dark=dark, size=size) for size in (WIDE, COMPACT))
    panels = [plotly(replace(figure, panels=[panel]), narrow) for panel in figure.panels]
    charts = {"wide": plotly(figure, wide)} | {f"p{i}": part for i, part in enumerate(panels)}
    style = (
        f"body {{ margin: 0; background: {PAGE[dark]}; color: {INK[dark]}; "
        "font: 16px/1.5 Arial, Helvetica, sans-serif; } "
        "main { max-width: 1200px; margin: 0 auto; padding: 1rem; } h1 { font-size: 1.3rem; } "
        f"p {{ color: {QUIET[dark]}; }} .heard, .narrow {{ display: none; }} "
        "table { width: 100%; border-collapse: collapse; } th { text-align: left; } "
        "td { text-align: right; } caption { display: none; } "
        "@media (max-width: 760px) { .heard { display: table; } .narrow { display: block; } "
        "#wide { display: none; } }"
    )
    places = "".join(f"<div id='p{i}' class='narrow'></div>" for i in range(len(panels)))
    body = (
        f"<div id='wide'></div>{places}\n{ladder_table(figure, wide)}\n"
        f"<p>{html.escape(setting)}</p>\n"
    )
    script = (
        f"<script>{plotly_script()}</script>\n<script>const figures = {json.dumps(charts)}\n"
        "const draw = () => { for (const [id, { data, layout }] of Object.entries(figures))\n"
        "  if (document.getElementById(id).offsetParent) Plotly.react(id, data, layout, "
        "{ responsive: true, displaylogo: false }) }\n"
        "addEventListener('resize', draw)\ndraw()</script>\n"
    )
    return html_page(html.escape(figure.alt), style, body, script)

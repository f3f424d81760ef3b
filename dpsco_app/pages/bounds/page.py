"""Bounds: the papers' tables at the scenario of the visit, their figure, and one row in full."""

import math

import streamlit as st

from dpsco_app.pages.bounds import words
from dpsco_app.pages.bounds.figure import (
    FEW_ROWS,
    MOST_ROWS,
    bounds_figure,
    height_of,
    room_for_names,
)
from dpsco_app.pages.bounds.state import (
    FITTING,
    STATE,
    View,
    covered,
    explore_address,
    fitting_table,
    with_fitting_methods,
)
from dpsco_app.pages.first_screen import FirstScreen
from dpsco_app.pages.frame import WHOLE, draw_page
from dpsco_app.parts.citations import bibtex
from dpsco_app.parts.drawing import theme
from dpsco_app.parts.evaluations import drawn_window, limit_of_wider_losses
from dpsco_app.parts.export import setting_line
from dpsco_app.parts.folding import FOLD, fold
from dpsco_app.parts.formulas import formula_markdown
from dpsco_app.parts.options import in_print
from dpsco_app.parts.page import draw_parts
from dpsco_app.parts.problem_words import words_for
from dpsco_app.shell.places import draw_views, link_to
from dpsco_core.base.cards import Quantity
from dpsco_core.base.errors import InvalidInput
from dpsco_core.explain.tables.best import comparable, leading
from dpsco_core.explain.tables.letters import conditions, symbols
from dpsco_core.explain.tables.table import (
    TABLE_KEYS,
    PaperTable,
    Row,
    canonical_point,
    paper_table,
    rows,
    slopes,
)
from dpsco_core.explain.window import worst_start
from dpsco_core.scenario import Scenario

ROW = "bounds_row_chosen"
PHONE_SIZE = {"left": 14, "height": 420}  # The size on a phone, where the marks carry their names.
SLUGS = "bounds_slugs"  # The session key of the slugs of the figure's rows, by height.
QUESTION = "What is proven at your scenario?"


STYLE = """<style>
.st-key-bounds_formula p { line-height: 2.4; }
@media (max-width: 760px) {
  .st-key-bounds_formula .katex { font-size: 0.85em; }
  .st-key-bounds_figure_wide { display: none; }
  .ladder.heard { position: static; display: table; width: 100%; height: auto; clip-path: none; }
}
</style>"""


def page() -> None:
    """Draw the page Bounds: a table of theorems as a figure, and one theorem in full."""
    draw_views("bounds")
    st.html(STYLE)
    draw_page(STATE, {WHOLE: _draw_table}, {WHOLE: QUESTION})


def _draw_table(screen: FirstScreen, view: View, scenario: Scenario) -> None:
    """Draw the menu of tables, the chosen table as a figure, and one of its rows in full."""
    point = canonical_point(with_fitting_methods(scenario))
    fitting = fitting_table(point)
    table = paper_table(view.table) if view.table else fitting
    all_rows = rows(point, table.slugs)
    gradients = table.key == "lowy-gradients"
    quantity: Quantity = "item gradients" if gradients else words_for(point.problem).quantity
    in_figure = comparable(all_rows, quantity)
    start = math.nan if gradients else worst_start(point)
    chosen = _chosen_row(all_rows, in_figure, view.bound)
    with (
        screen.controls,
        st.container(horizontal=True, vertical_alignment="bottom", key="bounds_choices"),
    ):
        _draw_table_menu(fitting, holds=any(r.holds for r in rows(point, fitting.slugs)))
        if len(in_figure) > FEW_ROWS:
            longest = (
                f"All {len(in_figure)}" if len(in_figure) <= MOST_ROWS else f"The best {MOST_ROWS}"
            )
            draw_parts({"few": f"The best {FEW_ROWS}", "all": longest}, STATE.key("rows"), "Rows")
    spans = [] if gradients else [span for _, span in drawn_window(point)]
    small = words.leader(in_figure) + words.count_sentence(all_rows, spans)
    wider = next(iter(limit_of_wider_losses(point)), None)
    if wider is not None and wider.bound.card.slug not in {r.bound.card.slug for r in in_figure}:
        wider = None  # The table has no bound over a wider class.
    screen.say(QUESTION, words.title(in_figure, wider), small)
    if in_figure:
        axis, is_phone = words.QUANTITY_AXES[quantity], not theme().size.ladder
        most_rows = FEW_ROWS if view.rows == "few" else MOST_ROWS
        figure = bounds_figure(
            in_figure, axis, chosen, start, most_rows=most_rows, has_names=is_phone, wider=wider
        )
        st.session_state[SLUGS] = {row.end: row.key for row in figure.ladder.rows}
        size = {"left": 24, "right": room_for_names(figure), "height": height_of(figure)}
        screen.draw(figure, _take_click, phone=PHONE_SIZE, **size)
        binds_zcdp = any(r.bound.card.privacy == "zcdp" for r in in_figure if r.binds)
        dashed = words.DASHED * (0 < start < math.inf)
        screen.foot.caption(words.MARKS + dashed + words.ZCDP * binds_zcdp)
        screen.draw_files(
            figure,
            lambda: words.table_frame(all_rows, start),
            setting=setting_line(point, runs=False),
            columns=("Bound", "Value", "Holds", "Kind", "Constant", "Paper"),
        )
    with st.container(key="bounds_said"):
        st.markdown(words.sentence(in_figure, table, start))
        if empty := words.finding(in_figure, spans, start):
            st.markdown(empty)
        st.caption(words.NO_EXPERIMENTS)
        if missing := words.without_row(table):
            st.caption(missing)
    _draw_cover_button(table)
    _draw_row_menu(all_rows, chosen, start)
    _draw_row(point, next(r for r in all_rows if r.bound.card.slug == chosen))


def _draw_table_menu(fitting: PaperTable, *, holds: bool) -> None:
    """Draw the menu of tables, whose first option is the table that fits the scenario.

    `holds` says whether any of that table's theorems holds.
    """
    own_label = f"{fitting.title} ({'holds' if holds else 'none holds'} here)"
    st.selectbox(
        "Table",
        (FITTING, *TABLE_KEYS),
        format_func=lambda k: paper_table(k).title if k else own_label,
        key=STATE.key("table"),
        on_change=STATE.change,
        args=({"bound": ""},),
        width=365,
    )


def _draw_cover_button(table: PaperTable) -> None:
    """Draw the button that sets a scenario at which theorems of a table hold, if one is known."""
    if table.covered:
        st.button(
            "Set a scenario that this table covers",
            icon=":material/my_location:",
            type="tertiary",
            key="bounds_covered",
            on_click=STATE.change,
            args=({}, covered(table)),
            help="One in which theorems of this table hold. It is set on this page alone.",
        )


def _chosen_row(all_rows: tuple[Row, ...], in_figure: list[Row], slug: str) -> str:
    """Return the slug of the row to show in full: the chosen one, or the best of the figure."""
    if slug in {r.bound.card.slug for r in all_rows}:
        return slug
    return (leading(in_figure) or all_rows[0]).bound.card.slug


def _draw_row_menu(all_rows: tuple[Row, ...], chosen: str, start: float) -> None:
    """Draw the menu of rows, from which a visitor chooses the one that is shown in full."""
    names = {
        r.bound.card.slug: f"{r.bound.card.name}: {words.holds_text(r, start)}" for r in all_rows
    }
    st.session_state[ROW] = chosen
    st.selectbox(
        "One bound in full",
        names,
        format_func=names.__getitem__,
        key=ROW,
        on_change=_take_row,
        width=430,
    )


def _take_row() -> None:
    """Put the bound that the visitor has chosen in the menu of rows into the page's state."""
    STATE.change({"bound": st.session_state[ROW]})


def _take_click(key: str) -> None:
    """Put the bound whose mark was clicked into the page's state; `key` is the figure's."""
    points = st.session_state[key].selection.points
    if points:
        STATE.change({"bound": st.session_state[SLUGS][round(points[0]["y"])]})


# -- one row ------------------------------------------------------------------------------------


def _draw_row(point: Scenario, row: Row) -> None:
    """Draw one bound in full: its formula, symbols, values, conditions and sources."""
    card = row.bound.card
    st.subheader(words.short(card))
    st.markdown(f"{words.card_line(card)} {card.summary}")
    with st.container(key="bounds_formula"):
        st.markdown(formula_markdown(card.latex))
    if not row.is_relevant:
        st.info(in_print(row.failures[0]))
        _draw_explore_link(point, row)
        return
    left, right = st.columns([3, 2])
    with left:
        _draw_symbols(point, row)
    with right:  # The column of the symbols is the longer one.
        _draw_values(point, row)
        _draw_conditions(point, row)
    with st.container(horizontal=True, key="bounds_row"):
        _draw_explore_link(point, row)
        _draw_sources(row)


def _draw_symbols(point: Scenario, row: Row) -> None:
    """Draw the table of a formula's symbols, with their values here."""
    lines = ["| symbol | here | meaning |", "|---|---|---|"]
    for symbol in symbols(point, row.bound):
        value = "in the formula" if math.isnan(symbol.value) else words.in_digits(symbol.value)
        lines.append(f"| ${symbol.latex}$ | {value} | {symbol.meaning} |")
    st.markdown("\n".join(lines))


def _draw_values(point: Scenario, row: Row) -> None:
    """Draw the values of a bound's terms, and its slopes if they are asked for."""
    terms = "\n".join(f"| {name} | {words.in_digits(value)} |" for name, value in row.terms)
    st.markdown(
        f"| part | value |\n|---|---|\n{terms}\n"
        f"| **the bound** | **{words.in_digits(row.value)}** |"
    )
    # Six values of a proven bound may take half a second, so they are computed on demand.
    if row.bound.card.constant == "explicit" and not st.button("Its slopes", key="bounds_slopes"):
        return
    exponents = slopes(point, row.bound.card.slug)
    axes = {"n": "n", "d": "d", "epsilon": "ε" if point.rho is None else "ρ"}
    texts = [
        f"{name} **{exponents[axis]:.2f}**"
        for axis, name in axes.items()
        if math.isfinite(exponents[axis])
    ]
    if texts:
        st.markdown("Slopes here: " + ", ".join(texts) + ".", help=words.SLOPE_HELP)


def _draw_conditions(point: Scenario, row: Row) -> None:
    """Draw whether the conditions of a bound hold at the scenario, and a folded list of them."""
    all_conditions = conditions(point, row.bound)
    if row.failures:
        st.warning("**Outside its theorem here.** " + in_print(" ".join(row.failures)))
    elif all_conditions:
        st.markdown("**All of its conditions hold here.**")
    if row.note:
        st.caption(row.note)
    if all_conditions:
        with (
            st.container(key=f"{FOLD}conditions"),
            st.expander(f"Its conditions ({len(all_conditions)})"),
        ):
            st.markdown("\n".join(f"- {words.condition_text(c)}" for c in all_conditions))


def _draw_sources(row: Row) -> None:
    """Draw the folded LaTeX formula of a bound and its BibTeX entry, to be copied."""
    card = row.bound.card

    def draw() -> None:
        """Draw the LaTeX of the formula and the BibTeX entry of the paper."""
        st.code(card.latex, language="latex", wrap_lines=True)
        if entry := bibtex([card.paper]):
            st.code(entry, language="bibtex", wrap_lines=True)

    fold("LaTeX and BibTeX", draw, "bounds_sources", kind="popover", icon=":material/content_copy:")


def _draw_explore_link(point: Scenario, row: Row) -> None:
    """Draw the link to a bound in Explore, or the reason why Explore cannot run the scenario."""
    try:
        query = explore_address(point, row.bound.card)
    except InvalidInput as problem:
        st.caption(f"Explore does not run this scenario: {problem}")
        return
    link_to("explore", "Open in Explore", query)

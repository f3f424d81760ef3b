"""What the records are worth: how many of them give the same error without privacy."""

from dataclasses import dataclass
from functools import lru_cache
from html import escape

from dpsco_app.figure.colours import IMPOSSIBLE, WINDOW, Pair
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.theme import Theme
from dpsco_app.front.headline import limit_prices
from dpsco_app.front.pictures.svg import picture
from dpsco_app.front.questions.tails import has_tails, tails_of
from dpsco_app.front.study import Study, chosen_point, place
from dpsco_app.parts.options import number_text
from dpsco_core.catalogue import distribution_card
from dpsco_core.fields import MEAN
from dpsco_core.scenario import Scenario

SQUARES = 100
CELLS = (
    ".full {{ fill: {own} }} .open {{ fill: none; stroke: {own}; stroke-width: .5 }} "
    ".lost {{ fill: {fill} }} path {{ stroke: {red}; stroke-width: .6 }}"
)
TITLE = "In records"
LOST_WORDS, OPEN = "crossed: no private algorithm can save them", "open: nobody knows yet"


@dataclass(frozen=True, kw_only=True)
class Worth:
    """The worth of the records on some data, as shares of their number."""

    title: str
    words: str  # The words below the title, in numbers of records.
    caption: str  # The caption of the squares.
    colour: Pair
    filled_share: float  # The share of filled squares.
    largest_share: float  # Squares up to this share are open, and those beyond it are crossed out.
    is_proven: bool  # Whether it is proven that no more than `largest_share` can be saved.


@lru_cache(maxsize=50)
def records_html(study: Study, scenario: Scenario, theme: Theme) -> str:
    """Return, as HTML, squares that show how many records' worth of accuracy privacy leaves.

    The text is empty unless the scenario is about a mean over records of single people.
    The error without privacy falls like the root of the number of records, so that n records at
    price c are worth n / c^2.
    """
    n = scenario.at(chosen_point(scenario)).n
    if (
        scenario.problem != MEAN
        or scenario.m > 1
        or scenario.axis == "m"
        or study.scenario.problem != MEAN
    ):
        return ""
    worths = [*_measured(study, n), *_promised(scenario, n)]
    if not worths:
        return ""
    blocks = "".join(_block(worth, theme) for worth in worths)
    square_worth = number_text(n / SQUARES)
    unit = f"One square is {square_worth} record{'s' * (n != SQUARES)} of {number_text(n)}."
    return (
        f"<section class='records'><h3>{TITLE}: what {number_text(n)} records are worth</h3>"
        f"<p>{unit} Filled squares: so many records give the same error without privacy.</p>"
        f"<div>{blocks}</div></section>"
    )


def _measured(study: Study, n: int) -> list[Worth]:
    """Return what n records are worth by the measured price, in a list that is empty without it."""
    x = chosen_point(study.scenario)
    row = study.row_at(study.lead, x)
    if row is None or row.price is None or not study.complete or row.price.value <= 0:
        return []
    share = min(1.0, 1 / row.price.value**2)
    limit = limit_prices(study).get(place(x), 0.0)
    largest_share = min(1.0, 1 / limit**2) if limit > 1 else 1.0
    law = distribution_card(study.scenario.distribution).name
    name = "The hardest data known" if study.role == "hardest" else f"{law} data"
    crossed = largest_share < 1
    return [
        Worth(
            title=name,
            words=f"worth {count_text(share * n)} records",
            caption="filled: measured" + f"; {LOST_WORDS}" * crossed,
            colour=colour_of(study.lead),
            filled_share=share,
            largest_share=largest_share,
            is_proven=crossed,
        )
    ]


def _promised(scenario: Scenario, n: int) -> list[Worth]:
    """Return what n records are worth by the proven bounds, for a heavy and a light tail."""
    if not has_tails(scenario):
        return []
    worths = []
    x = chosen_point(scenario)
    for tail, kind in zip(tails_of(scenario), ("heavy", "light"), strict=True):
        i = [a for a, _ in tail.spans].index(x)
        low, high = tail.prices(i)
        least_share, largest_share = min(1.0, 1 / high**2), min(1.0, 1 / low**2)
        crossed = low > 1
        words = f"at least {count_text(least_share * n)}"
        if crossed:
            words = f"{count_text(least_share * n)} to {count_text(largest_share * n)}"
        worths.append(
            Worth(
                title=f"Any data with a {kind} tail, p = {number_text(tail.scenario.p)}",
                words=f"worth {words} records",
                caption=f"filled: the best promise known; {LOST_WORDS if crossed else OPEN}",
                colour=WINDOW.edge,
                filled_share=least_share,
                largest_share=largest_share,
                is_proven=crossed,
            )
        )
    return worths


def count_text(value: float) -> str:
    """Return a number of records as text, rounded to two digits, at least 1.

    Examples
    --------
    >>> count_text(1449.2), count_text(8.4)
    ('1,400', '8')
    """
    return f"{max(1, int(float(f'{value:.2g}'))):,}"


def _block(worth: Worth, theme: Theme) -> str:
    """Return a hundred squares with a caption, as HTML: what n records are worth under privacy."""
    full, open_to = round(SQUARES * worth.filled_share), round(SQUARES * worth.largest_share)
    colour, red, fill = map(theme.colour, (worth.colour, IMPOSSIBLE.edge, IMPOSSIBLE.fill))
    sheet = CELLS.format(own=colour, red=red, fill=fill)
    cells = "".join(_cell(i, full, open_to, crossed=worth.is_proven) for i in range(SQUARES))
    shapes = picture("0 0 100 100", f"<style>{sheet}</style>{cells}", "class='squares'")
    return (
        f"<figure style='--own: {colour}'>"
        f"<figcaption><b>{escape(worth.title)}</b><span>{escape(worth.words)}</span></figcaption>"
        f"{shapes}<p>{escape(worth.caption)}</p>"
        "</figure>"
    )


def _cell(i: int, full: int, open_to: int, *, crossed: bool) -> str:
    """Return square i of the hundred as SVG: full, open, or crossed out as lost.

    Squares up to `full` are full, those up to `open_to` are open; `crossed` marks the rest as lost.
    """
    x, y = 10 * (i % 10) + 1, 10 * (i // 10) + 1
    kind = "full" if i < full else "open" if i < open_to or not crossed else "lost"
    box = f"<rect class='{kind}' x='{x}' y='{y}' width='8' height='8' rx='1.2'/>"
    if kind != "lost":
        return box
    return f"{box}<path d='M{x + 2.5} {y + 2.5}l3 3m0 -3l-3 3'/>"


RECORDS_STYLE = """
.records > div { display: flex; flex-wrap: wrap; gap: 2rem; }
.records h3 { font-size: 1.1rem; margin: 1.2rem 0 0.2rem; }
.records figure { flex: 1 1 12rem; max-width: 18rem; margin: 0.6rem 0 0; }
.records figcaption b, .records figcaption span { display: block; }
.records figcaption span { color: var(--own); font-weight: 600; }
.records img { width: 100%; max-width: 14rem; display: block; margin: 0.4rem 0; }
.records p { font-size: 0.875rem; margin: 0; }
"""

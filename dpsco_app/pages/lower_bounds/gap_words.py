"""The words of the window between proven bounds."""

from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_app.pages.lower_bounds.words import VOID, brief, ratio_text
from dpsco_app.parts.options import SYMBOL, inside, number_text
from dpsco_core.base.arrays import Vector
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.catalogue import bound, method_card
from dpsco_core.explain.window import Notion, Standing

# The floors by notion, under the names that Explore gives their lines.
LINE_NAMES: dict[Notion, str] = {
    "approx": f"{COORDINATE.worst}, every (ε, δ) algorithm",
    "zcdp": f"{COORDINATE.worst}, every zCDP algorithm",
    "pure": f"{COORDINATE.worst}, pure ε",
}
AXIS_NAMES = {
    "n": "Number of records n",
    "d": "Dimension d",
    "epsilon": "Privacy budget ε (epsilon)",
    "rho": "Privacy budget ρ (zCDP)",
    "p": "Tail index p",
}
WHOM_NAMES = {"every": "Every (ε, δ) algorithm", "zcdp": "Every zCDP algorithm"}
SYMBOLS = SYMBOL | {"rho": "ρ"}
CHOSEN = "Best method, chosen by the setting"
BOUND_LINE, NO_DATA = "Best proven upper bound", "Answer without data"
ABOUT_MAP = (
    "In each cell: the best proven upper bound, or the error of always answering 0 where that is "
    "smaller, over the floor. Near 1, theory leaves nothing open; the circle is your scenario."
)


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """One proven bound that holds: its name and value, and how far it is from the best ones."""

    name: str
    value: float
    upper: bool
    best: bool
    about: str


def standing_words(here: Standing) -> tuple[str, str]:
    """Return the answer, the floor and what is proven, and below it the floors for others."""
    windows = list(here.windows.values())
    first, last, s = windows[0], windows[-1], here.point
    who = {"approx": "(ε, δ)-private", "zcdp": "ρ-zCDP", "pure": "ε-private"}
    answer = f"No {who[first.notion]} algorithm can promise less than {brief(first.floor)}"
    where = f"In the worst case at n = {s.n:,}, d = {s.d:,} and p = {number_text(s.p)}"
    zcdp = (
        f"no zCDP algorithm at ρ = {brief(s.setting.rho)}, such as those that add Gaussian noise,"
    )
    if first.upper is None or first.ceiling >= here.start:
        small = f"{where} nothing is proven below the answer 0, {brief(here.start)}"
        if len(windows) > 1:
            small += f"; {zcdp} can promise less than {brief(last.floor)}"
        return answer, f"{small}."
    name = inside(method_card(first.upper.card.method).name)
    small = f"{where}, by {name}: {ratio_text(here.ratio(first.notion))} times the floor. "
    if len(windows) > 1:
        possible = f"{brief(here.chosen(last.notion))} is proven possible"
        also = f", and {possible}" if last.ceiling != first.ceiling else ""
        ratio = f"{ratio_text(here.ratio(last.notion))} times that floor"
        small += f"{_sentence(zcdp)} can promise less than {brief(last.floor)}{also}: {ratio}. "
    small += f"Always answering 0 may err by {brief(here.start)}."
    return f"{answer}; {brief(first.ceiling)} is proven possible", small


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def shares_sentence(here: Standing) -> str:
    """Return which term makes the window wide."""
    window = list(here.windows.values())[-1]
    if window.upper is None:
        return "No upper bound is proven here."
    parts = ", ".join(
        f"{100 * share:.0f} % without its {name}"
        for name, share in sorted(window.shares.items(), key=lambda item: -item[1])
    )
    return (
        f"**{window.widest.capitalize()}** makes the window wide: the best proven upper bound, "
        f"“{window.upper.card.name}”, would be smaller by {parts}."
    )


def sweep_title(standings: Sequence[Standing], field: str) -> str:
    """Return how the window changes over a field."""
    widths: list[str] = []
    for notion in reversed(list(standings[0].windows)):
        ratios = [s.ratio(notion) for s in standings]
        span = f"{ratio_text(min(ratios))} to {ratio_text(max(ratios))}"
        widths.append(f"{span}{' times wide' * (not widths)} for {_whom(notion)}")
    ends = [
        number_text(float(f"{getattr(s.point, field):.3g}")) for s in (standings[0], standings[-1])
    ]
    return f"The window is {' and '.join(widths)}, from {SYMBOLS[field]} = {ends[0]} to {ends[1]}"


def _whom(notion: Notion) -> str:
    return LINE_NAMES[notion].split(", ", 1)[1]


def ranked(here: Standing) -> list[Ranked]:
    """Return the bounds that hold, the largest first; a floor once, for the weakest notion.

    Behind the method bounds stands their least, which is one algorithm's: it chooses among them.
    """
    notion, window = list(here.windows.items())[-1]
    rows = [
        Ranked(
            name=bound(slug).card.name,
            value=ratio * window.floor,
            upper=True,
            best=bound(slug) is window.upper,
            about=f"{ratio_text(ratio)} times the highest floor",
        )
        for slug, ratio in window.uppers.items()
        if ratio * window.floor < here.start
    ]
    rows.append(
        Ranked(
            name=NO_DATA,
            value=here.start,
            upper=True,
            best=False,
            about="the norm that the mean may have",
        )
    )
    rows.append(
        Ranked(
            name=CHOSEN,
            value=here.chosen(notion),
            upper=True,
            best=True,
            about=f"{ratio_text(here.ratio(notion))} times the highest floor; the choice sees no "
            "data, so it costs no privacy",
        )
    )
    lowers = {slug: share for w in here.windows.values() for slug, share in w.lowers.items()}
    best = [w.lower for w in here.windows.values()]
    rows += [
        Ranked(
            name=bound(slug).card.name,
            value=share * window.ceiling,
            upper=False,
            best=bound(slug) in best,
            about=f"{100 * share:.2g} % of the best upper bound",
        )
        for slug, share in lowers.items()
        if share * window.ceiling > VOID
    ]
    return sorted(rows, key=lambda row: -row.value)


def map_title(ratios: Vector, here: float, notion: Notion) -> str:
    """Return how wide the window is at the scenario, and over the map."""
    ends = f"{ratio_text(float(ratios.min()))} to {ratio_text(float(ratios.max()))}"
    return (
        f"The window for {_whom(notion)} is {ratio_text(here)} times wide at your scenario, {ends} "
        "times on the map"
    )

"""What Bounds says: names of its columns and filters, and what a table shows, in words."""

import math
import re
from collections.abc import Sequence

import pandas as pd

from dpsco_app.parts.options import in_print, number_text, with_letters
from dpsco_app.parts.problem_words import class_text
from dpsco_core.base.cards import BoundCard, Quantity
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.base.loss_classes import MEAN
from dpsco_core.explain.errata import Erratum
from dpsco_core.explain.tables.letters import Condition
from dpsco_core.explain.tables.ratios import ClassRatio, class_ratios
from dpsco_core.explain.tables.table import PaperTable, Row

KIND_NAMES = {"all": "upper and lower", "upper": "upper bounds", "lower": "lower bounds"}
SCOPE_NAMES = {"here": "this problem", "all": "every problem"}
PAPER_NAMES = {
    "all": "every paper",
    "kamath": "Kamath, Liu and Zhang 2022",
    "zhao": "Zhao et al. 2024",
    "su": "Su, Zhao and Wang 2023",
    "arora": "Arora, Marinov and Ullah 2020",
    "lowy": "Lowy, Liu and Asi 2024",
}
CONSTANTS = {"explicit": "proven", "rate": "rate, constant 1"}
ERRATA_INTRODUCTION = (
    "What was found **wrong or missing** in the papers while they were worked out, and what is "
    "done here instead. Many entries come with an experiment: numbers that show it, computed when "
    "you press the button. Most results survive, with other constants or with a condition more; "
    "an entry that is *valid but loose* is true as printed, and needs less than it asks for."
)
MARKS = (
    "▼ upper bound, ▲ lower bound. Filled: every constant is proven; hollow: a rate, drawn with "
    "constant 1, which compares only its growth. Pale, in brackets: a condition of the theorem "
    "fails here, or a lower bound is about other losses. Dashed: the error on these data of an "
    "answer that ignores them; an upper bound to its right is vacuous here."
)
SLOPE_HELP = (
    "Logarithmic slope at this point: −0.5 means that four times as much halves the value. For "
    "rates; of a proven bound in its details below."
)


def in_digits(value: float) -> str:
    """Return a value with three digits, as people write it."""
    if math.isnan(value):
        return "none"
    return number_text(float(f"{value:.3g}")) if math.isfinite(value) else "∞"


def comparable(rows: Sequence[Row], quantity: Quantity) -> list[Row]:
    """Return the rows that bound one quantity at this scenario by a positive number."""
    return [
        r for r in rows if r.here and r.bound.card.quantity == quantity and 0 < r.value < math.inf
    ]


def quantity_of(table: PaperTable, problem_quantity: Quantity) -> Quantity:
    """Return what a table's figure compares: gradients in theirs, otherwise the problem's own."""
    return "item gradients" if table.key == "lowy-gradients" else problem_quantity


def quantity_axis(quantity: Quantity) -> str:
    """Return the title of the axis."""
    names = {
        "l2 error": "Error ‖μ̂ − μ‖₂",
        "squared l2 error": "Squared error",
        "excess risk": "Excess population risk",
        "item gradients": "Gradients of single items",
    }
    return names[quantity]


def best_upper(rows: Sequence[Row], constant: str) -> Row | None:
    """Return the smallest private upper bound on the mean whose conditions hold; or rate of any."""
    bounds = [
        r
        for r in rows
        if r.holds
        and (r.bound.card.kind, r.bound.card.constant) == ("upper", constant)
        and r.bound.card.privacy != "none"
        and (constant == "rate" or r.bound.card.guarantee == "expectation")
    ]
    return min(bounds, key=lambda r: r.value, default=None)


def leading(rows: Sequence[Row]) -> Row | None:
    """Return the smallest proven upper bound, or the smallest rate where none is proven.

    First comes what meets the floor. Another bound that is below the floor is about a narrower
    class of laws or losses, and does not lead either.
    """
    least, proven = floor(rows), best_upper(rows, "explicit")
    met = best_upper([r for r in rows if _meets(r, least)], "explicit")
    if met is not None:
        return met
    if proven is None or (least is not None and proven.value < least.value):
        return best_upper(rows, "rate")
    return proven


def _meets(row: Row, least: Row | None) -> bool:
    """Whether an upper bound is about what the floor is about."""
    return least is not None and row.bound.card.meets(least.bound.card, row.covers)


def floor(rows: Sequence[Row]) -> Row | None:
    """Return the largest proven lower bound that holds and binds more than ε-DP alone.

    One that binds ε-DP algorithms only says nothing about the others, so it comes last.
    """
    bounds = [
        r
        for r in rows
        if r.holds
        and r.applies
        and (r.bound.card.kind, r.bound.card.constant) == ("lower", "explicit")
        and not r.bound.card.of_law  # the worst case
    ]
    wide = [r for r in bounds if r.bound.card.privacy != "pure"]
    return max(wide or bounds, key=lambda r: r.value, default=None)


def bound_ones(row: Row) -> str:
    """Return whom a lower bound binds."""
    names = {"none": "algorithm", "pure": "ε-DP algorithm", "approx": "(ε, δ)-DP algorithm"}
    return names.get(row.bound.card.privacy, "zCDP algorithm")


def short(card: BoundCard) -> str:
    """Return the name of a bound without the field that all rows of a table share."""
    name = card.name.removeprefix("SCO, ")
    return name[0].upper() + name[1:]


def marked(row: Row) -> str:
    """Return the name of a bound in a figure: with its class if it is not that of the worst case.

    Rates are drawn with constant 1, and are below or above nothing.
    """
    card = row.bound.card
    proven = row.here and (card.kind, card.constant) == ("upper", "explicit")
    narrow = proven and COORDINATE not in row.covers
    return f"{short(card)}, for {card.laws.short}" if narrow else short(card)


def title(rows: Sequence[Row]) -> str:
    """Return the takeaway of the figure."""
    if not rows:
        return "No row of this table is about this problem: choose another problem or table"
    upper, least = leading(rows), floor(rows)
    parts = []
    if upper is not None:
        proven = upper.bound.card.constant == "explicit"
        narrow = least is not None and least.bound.card.laws not in upper.covers
        laws = f" for {upper.bound.card.laws.short}" * narrow
        first = (
            f"Proven in this table{laws}: at most"
            if proven
            else "The smallest rate of this table is"
        )
        parts.append(f"{first} {in_digits(upper.value)} (“{short(upper.bound.card)}”)")
    if least is not None:
        start = "no" if parts else "No"
        who = f"{start} {bound_ones(least)}"
        parts.append(f"{who} can guarantee less than {in_digits(least.value)} in the worst case")
    if parts:
        return "; ".join(parts)
    return "No theorem about a private method holds here: the values are outside their theorems"


def count_sentence(rows: Sequence[Row]) -> str:
    """Return how many of the rows hold here."""
    here = [r for r in rows if r.here]
    text = f"{sum(r.holds for r in here)} of {len(here)} rows that are about this problem hold here"
    if len(here) < len(rows):
        text += f" ({len(rows) - len(here)} are about something else)"
    return text + "."


def sentence(compared: Sequence[Row], table: PaperTable, start: float) -> str:
    """Return how far the proven bounds are apart, and which say nothing."""
    parts = [ratio_sentence(ratio) for ratio in class_ratios(compared)]
    above = [r for r in compared if is_vacuous(r, start)]
    if above:
        every = sum(r.holds and r.bound.card.kind == "upper" for r in compared)
        count = f"All {every}" if len(above) == every else f"**{len(above)} of the {every}**"
        parts.append(
            f"{count} upper bounds that hold promise nothing here: they "
            f"are above **{in_digits(start)}**, the error of an answer that ignores the data"
        )
    return " ".join([table.source, *(f"{part}." for part in parts)])


def ratio_sentence(pair: ClassRatio) -> str:
    """Return how far the proven bounds of one class of losses are apart."""
    which = pair.loss_class
    where = "For mean estimation" if which == MEAN else f"For {which} losses"
    where += f" and {(pair.lower or pair.upper).bound.card.laws.words}"
    value = in_digits(pair.upper.value)
    upper = f"{where}, the smallest proven upper bound in expectation is **{value}**"
    if pair.lower is None:
        return f"{upper}, and this table has no proven lower bound for that class"
    ratio = in_digits(float(f"{pair.ratio:.2g}"))
    return (
        f"{upper}, **{ratio} times** the largest lower bound on every {bound_ones(pair.lower)} "
        f"for this class, **{in_digits(pair.lower.value)}**"
    )


def is_vacuous(row: Row, start: float) -> bool:
    """Whether an upper bound that holds is not below the error of an answer without data."""
    return row.holds and row.bound.card.kind == "upper" and row.value >= start


def condition_text(condition: Condition) -> str:
    """Return a condition with its numbers, as in "n ≥ 100 √(d/ρ): here 500 ≥ 2,200"."""
    sides = " ".join(
        in_digits(x) if isinstance(x, (int, float)) else with_letters(x) for x in condition.sides
    )
    text = with_letters(condition.text)
    if condition.failure:
        fails = f"fails: {sides} is false here" if condition.sides else "fails here"
        return f"✗ {text}: {fails}"
    return f"✓ {text}" + (f": here {sides}" if condition.sides else "")


def card_line(card: BoundCard) -> str:
    """Return who says it, and what kind of statement it is."""
    proven = "every constant proven" if card.constant == "explicit" else "a rate, constant 1"
    sense = "on average" if card.guarantee == "expectation" else f"with {card.guarantee}"
    kind = "Upper" if card.kind == "upper" else "Lower"
    losses = "" if card.loss_class == MEAN else f" of {card.loss_class} losses"
    laws = f"{'over' if card.kind == 'lower' else 'for'} {card.laws.words}"
    what = f"{kind} bound on the {card.quantity}{losses} {sense}, {laws}, {proven}"
    return f"{what}. {card.paper}, {card.statement}."


def formula(latex: str) -> str:
    r"""Return a formula as text that can wrap: what it is, and below what its letters stand for.

    Definitions come after the formula, separated by a comma and a space outside of all braces.
    """
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(latex):
        depth += (letter == "{") - (letter == "}")
        if depth == 0 and latex.startswith((",\\ ", ",\\quad"), place):
            parts.append(latex[start:place])
            start = place + 1
    pieces = [re.sub(r"^(\\quad|\\ |\s)+", "", part) for part in (*parts, latex[start:])]
    defines = ("=", r"\le", r"\ge", r"\sim", r"\text")
    main = [pieces[0]] + [p for p in pieces[1:] if r"\ (q" in p or not any(d in p for d in defines)]
    where = [p for p in pieces[1:] if p not in main]
    lines = [", ".join(_inline(p) for p in main)]
    if where:
        lines.append("where " + ", ".join(_inline(p) for p in where))
    return "\n\n".join(lines)


def _inline(part: str) -> str:
    """Return a formula inside a line; words in it become text, which can wrap."""
    opened = rf"$\displaystyle {part}$"
    apart = re.sub(r"\\text\{([^}]*)\}", r"$\1$\\displaystyle ", opened)
    return apart.replace(r"$\displaystyle $", "").replace(r"\displaystyle $", "$")


def table_frame(
    rows: Sequence[Row], slopes: Sequence[dict[str, float]], start: float
) -> pd.DataFrame:
    """Return the table as text and numbers, one row a bound; slopes are empty where not given."""
    return pd.DataFrame(
        [
            {
                "Bound": short(r.bound.card),
                "Value": r.value if math.isfinite(r.value) else None,
                "Holds": "yes" if r.holds else "no",
                "Vacuous": "yes" if is_vacuous(r, start) else "",
                "Kind": r.bound.card.kind,
                "Constant": CONSTANTS[r.bound.card.constant],
                "Slope n": _finite(s, "n"),
                "Slope d": _finite(s, "d"),
                "Slope ε": _finite(s, "epsilon"),
                "Paper": r.bound.card.paper.key,
                "Statement": r.bound.card.statement,
                "Of": r.bound.card.quantity,
                "Class": class_text(r.bound.card, r.applies or not r.here),
                "Binds": in_print(f"every {r.binds}") if r.binds else "",
                "What fails": in_print(r.failures[0]) if r.failures else "",
            }
            for r, s in zip(rows, slopes, strict=True)
        ]
    )


def _finite(slopes: dict[str, float], axis: str) -> float | None:
    value = slopes.get(axis, math.nan)
    return value if math.isfinite(value) else None


def about(entry: Erratum) -> str:
    """Return what an erratum is about, in the words of its slug."""
    words = entry.slug.split(".")[1].replace("-", " ")
    return words[0].upper() + words[1:]

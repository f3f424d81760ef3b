"""The words of the page Bounds."""

import math
from collections.abc import Iterable, Sequence

import pandas as pd

from dpsco_app.parts.options import in_print, short_text, with_letters
from dpsco_app.parts.problem_words import class_text
from dpsco_core.base.cards import BoundCard, Quantity
from dpsco_core.base.law_classes import COORDINATE
from dpsco_core.base.loss_classes import MEAN
from dpsco_core.explain.tables.best import empty_theorems, floor, is_vacuous, leading
from dpsco_core.explain.tables.left_out import left_out
from dpsco_core.explain.tables.letters import Condition
from dpsco_core.explain.tables.ratios import ClassRatio, class_ratios
from dpsco_core.explain.tables.table import PaperTable, Row
from dpsco_core.explain.window import Span
from dpsco_core.results.report import Evaluation

CONSTANTS = {"explicit": "proven", "rate": "rate, constant 1"}
QUANTITY_AXES: dict[Quantity, str] = {
    "l2 error": "Error ‖μ̂ − μ‖₂",
    "squared l2 error": "Squared error",
    "excess risk": "Excess population risk",
    "item gradients": "Gradients of single items",
}
MARKS = (
    "▼ upper bound, ▲ lower bound. Filled: every constant is proven; hollow: a rate, drawn with "
    "constant 1, which compares only its growth. Pale, in brackets: a condition of the theorem "
    "fails here, or a lower bound is about other losses."
)
DASHED = (
    " Dashed: the worst-case error of an answer that ignores the data; an upper bound to its right "
    "says nothing."
)
ZCDP = " An algorithm is zCDP if it hides a record as Gaussian noise does; ρ measures how well."
NO_EXPERIMENTS = (
    "None of the five papers has an experiments section: all that is measured in this dashboard is "
    "this project’s own."
)
MOST_EMPTY = 4  # The largest number of theorems that the sentence names.
SLOPE_HELP = "Logarithmic slope at this point: −0.5 means that four times as much halves the value."


def in_digits(value: float) -> str:
    """Return a value as text with three digits, or "none" for NaN."""
    return "none" if math.isnan(value) else short_text(value)


def bound_ones(card: BoundCard) -> str:
    """Return the words for an algorithm that a lower bound binds, such as "ε-DP algorithm"."""
    names = {"none": "algorithm", "pure": "ε-DP algorithm", "approx": "(ε, δ)-DP algorithm"}
    return names.get(card.privacy, "zCDP algorithm")


def short(card: BoundCard) -> str:
    """Return the name of a bound without its prefix "SCO, ", which all rows of a table share."""
    name = card.name.removeprefix("SCO, ")
    return name[0].upper() + name[1:]


def marked(row: Row) -> str:
    """Return the name of a bound in a figure, with words that set it apart.

    That is its class, if it is not the one of the worst case, or that it is not private. Rates are
    drawn with constant 1, so that their heights cannot be compared.
    """
    return short(row.bound.card) + class_suffix(row)


def class_suffix(row: Row) -> str:
    """Return the end of a bound's name, such as ", for linear losses" or ", not private".

    It names a narrower class of laws, or a wider class of losses than those of the problem, and is
    empty for a bound that needs no such words.
    """
    card = row.bound.card
    if is_wider(row):
        return f", for {card.loss_class} losses"
    proven = row.is_relevant and (card.kind, card.constant) == ("upper", "explicit")
    narrow = proven and COORDINATE not in row.covers
    name = f", for {card.laws.short}" * narrow
    return name + ", not private" * ((card.kind, card.privacy) == ("upper", "none"))


def is_wider(row: Row) -> bool:
    """Return whether a lower bound is over a wider class of losses, and binds no method here."""
    return row.holds and row.bound.card.kind == "lower" and not row.applies


def title(rows: Sequence[Row], wider: Evaluation | None = None) -> str:
    """Return the title of the figure: its smallest upper and its largest lower bound in words.

    `wider` is a bound over a wider class of losses, which is given if no lower bound over the
    problem's own class holds.
    """
    if not rows:
        return "No row of this table is about this problem: choose another problem or table"
    upper, lower, parts = leading(rows), floor(rows), []
    proven = f"proven in this table: {rows[0].bound.card.quantity.replace('l2 ', '')} "
    if upper is not None:
        rate = upper.bound.card.constant == "rate"
        kind = "the smallest rate of this table is" if rate else f"{proven}at most"
        its_class = marked(upper).removeprefix(short(upper.bound.card))
        parts.append(f"{kind} {in_digits(upper.value)}{its_class}")
        proven = "proven: " * rate
    if lower is not None:
        losses = lower.bound.card.loss_class
        value = f"at least {in_digits(lower.value)} for every {bound_ones(lower.bound.card)}"
        worst = f"in the worst case {value}" if losses == MEAN else f"{value} on some {losses} loss"
        parts.append(proven + worst)
    if wider is not None and lower is None:
        card = wider.bound.card
        scope = f"for every {bound_ones(card)} on some {card.loss_class} loss, a wider class"
        parts.append(f"{proven * (not parts)}at least {in_digits(wider.value)} {scope}")
    text = "; ".join(parts) or (
        "no theorem about a private method holds here: the values are outside their theorems"
    )
    return text[0].upper() + text[1:]


def leader(rows: Sequence[Row]) -> str:
    """Return a sentence that names the bound of the first number in the title."""
    upper = leading(rows)
    return "" if upper is None else f"Smallest upper bound: “{short(upper.bound.card)}”. "


def count_sentence(rows: Sequence[Row], spans: Iterable[Span]) -> str:
    """Return sentences on how many rows hold at the scenario, and on the window of all tables.

    `spans` has that window, if there is one.
    """
    relevant = [r for r in rows if r.is_relevant]
    return (
        f"{sum(r.holds for r in relevant)} of {len(relevant)} rows that are about this problem "
        f"hold here; the table has {len(rows)}."
    ) + "".join(
        f" With the bounds of all tables, {in_digits(span.high)} is proven possible for all data, "
        f"and {in_digits(span.low)} is the proven limit: no private algorithm guarantees less."
        for span in spans
    )


def sentence(compared: Sequence[Row], table: PaperTable, start: float) -> str:
    """Return sentences on a table: its source, ratios of proven bounds, and vacuous upper bounds.

    `start` is the worst-case error of an answer that ignores the data.
    """
    parts = [ratio_sentence(ratio) for ratio in class_ratios(compared)]
    vacuous = [r for r in compared if is_vacuous(r, start)]
    if vacuous:
        count_upper = sum(r.holds and r.bound.card.kind == "upper" for r in compared)
        count = (
            f"All {count_upper}"
            if len(vacuous) == count_upper
            else f"**{len(vacuous)} of the {count_upper}**"
        )
        parts.append(
            f"{count} upper bounds that hold say nothing here: they are above "
            f"**{in_digits(start)}**, the worst-case error of an answer that ignores the data"
        )
    return " ".join([table.source, *(f"{part}." for part in parts)])


def finding(compared: Sequence[Row], spans: Iterable[Span], start: float) -> str:
    """Return sentences on proven theorems that are vacuous at this size, and on the least bound.

    `start` is the worst-case error of an answer that ignores the data. The text is empty if every
    such theorem proves less than that.
    """
    empty = empty_theorems(compared, start)
    if not empty:
        return ""
    values = [f"{in_digits(r.value)} ({short(r.bound.card)})" for r in empty[:MOST_EMPTY]]
    if len(empty) > MOST_EMPTY:
        values.append(f"and {len(empty) - MOST_EMPTY} more")
    text = (
        f"Theorems with every constant proven, and nothing to say at this size: {', '.join(values)}"
        f". An answer that ignores the data has an error of at most {in_digits(start)}."
    )
    for span in spans:
        text += (
            f" No theorem proves less than that possible for all data: {in_digits(start)}."
            if span.ignores_data
            else f" The least proven possible for all data is {in_digits(span.high)}, by "
            f"“{short(span.upper.card)}”."
        )
    return text


def without_row(table: PaperTable) -> str:
    """Return the statements of a table's paper that have no row; empty if all have one."""
    entries = () if table.key == "all" else left_out(table.key)
    lines = [f"- {in_print(entry.line)}" for entry in entries]
    return "\n".join(["Without a row here:", "", *lines]) if lines else ""


def ratio_sentence(pair: ClassRatio) -> str:
    """Return a clause with the ratio of upper to lower bound for one class of losses."""
    loss_class = pair.loss_class
    scope = "For mean estimation" if loss_class == MEAN else f"For {loss_class} losses"
    scope += f" and {(pair.lower or pair.upper).bound.card.laws.words}"
    value = in_digits(pair.upper.value)
    upper = f"{scope}, the smallest proven upper bound in expectation is **{value}**"
    if pair.lower is None:
        return f"{upper}, and this table has no proven lower bound for that class"
    ratio = short_text(pair.ratio, 2)
    algorithm = bound_ones(pair.lower.bound.card)
    largest = f"the largest lower bound on every {algorithm} for this class"
    return f"{upper}, **{ratio} times** {largest}, **{in_digits(pair.lower.value)}**"


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
    """Return sentences on what kind of statement a bound is, and on its source."""
    proven = "every constant proven" if card.constant == "explicit" else "a rate, constant 1"
    sense = "on average" if card.guarantee == "expectation" else f"with {card.guarantee}"
    kind = "Upper" if card.kind == "upper" else "Lower"
    losses = "" if card.loss_class == MEAN else f" of {card.loss_class} losses"
    laws = f"{'over' if card.kind == 'lower' else 'for'} {card.laws.words}"
    statement = f"{kind} bound on the {card.quantity}{losses} {sense}, {laws}, {proven}"
    return f"{in_print(statement)}. {card.paper}, {card.statement}."


def table_frame(rows: Sequence[Row], start: float) -> pd.DataFrame:
    """Return the table as text and numbers, one row per bound."""
    return pd.DataFrame(
        [
            {
                "Bound": short(r.bound.card) if r.is_relevant else r.bound.card.name,
                "Value": r.value if math.isfinite(r.value) else None,
                "Holds": holds_text(r, start),
                "Kind": r.bound.card.kind,
                "Constant": CONSTANTS[r.bound.card.constant],
                "Paper": r.bound.card.paper.key,
                "Statement": r.bound.card.statement,
                "Of": r.bound.card.quantity,
                "Class": class_text(r.bound.card, r.applies or not r.is_relevant),
                "Binds": in_print(f"every {r.binds}") if r.binds else "",
                "What fails": in_print(r.failures[0]) if r.failures else "",
            }
            for r in rows
        ]
    )


def holds_text(row: Row, start: float) -> str:
    """Return "yes", "yes, vacuous", "no" or "another problem": whether a row's theorem holds."""
    if not row.is_relevant:
        return "another problem"
    if not row.holds:
        return "no"
    return "yes, vacuous" if is_vacuous(row, start) else "yes"

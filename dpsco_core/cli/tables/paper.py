"""A paper's statements in numbers, as tables of text and of LaTeX."""

import math
from collections.abc import Sequence

from dpsco_core.catalogue import problem_card
from dpsco_core.cli.tools import format_table, number, print_note, print_text
from dpsco_core.explain.tables.papers.latex import booktabs, escape_latex, latex_number
from dpsco_core.explain.tables.papers.papers import NO_EXPERIMENTS, ReproducedPaper
from dpsco_core.explain.tables.papers.statements import (
    SectionTable,
    Statement,
    left_out_lines,
)

HEADER = ["statement", "as printed", "constants", "reworked", "proven here", "measured", "holds"]
HIDDEN = (
    "where constants are 1 the paper hides them, and most logarithms: the value is a rate, which "
    "a measured error may exceed and no proof is broken. Reworked is a statement corrected, "
    "sharpened or put together here, as its row says."
)
PROVEN = (
    "proven here has every constant proven: on the mean error of the row's method, or on every "
    "algorithm of a lower bound's notion and class. Measured is a mean over trials; "
    "`dpsco run --method SLUG` with the same fields repeats it."
)


def print_paper(entry: ReproducedPaper, tables: Sequence[SectionTable]) -> None:
    """Print the sections of a paper, and the parts of the paper that they leave out."""
    paper = entry.paper
    print_text(f"{paper.title}. {paper.authors}. {paper.venue}.")
    print_text(NO_EXPERIMENTS)
    for section in tables:
        _print_section(entry, section)
    print()
    print_note(HIDDEN)
    print_note(PROVEN)
    for line in left_out_lines(entry):
        print_note(f"without a row: {line}")
    print_note("what is wrong in print, `dpsco errata` lists.")


def paper_latex(entry: ReproducedPaper, tables: Sequence[SectionTable]) -> str:
    """Return each section of a paper as a table of LaTeX, which needs the package booktabs."""
    return "\n".join(_section_latex(entry, section) for section in tables)


def _section_latex(entry: ReproducedPaper, section: SectionTable) -> str:
    """Return a section as a table of LaTeX, whose caption has its setting and what fails."""
    failures: list[str] = []
    rows = []
    for statement in section.statements:
        name, *numbers, verdict = statement_cells(entry, statement, failures)
        cells = [escape_latex(name), statement.card.kind, *map(latex_number, numbers)]
        rows.append([*cells, escape_latex(verdict)])
    head, *heads = HEADER
    notes = [f"({place}) {failure}" for place, failure in enumerate(failures, start=1)]
    hidden = HIDDEN[0].upper() + HIDDEN[1:]
    words = [
        f"{entry.paper.authors} ({entry.paper.year}), {section.section.title}: "
        f"{_quantity_text(section)} at {_setting_text(section)}.",
        *(hidden, NO_EXPERIMENTS, *notes),
    ]
    columns = r"p{0.3\linewidth}l" + "r" * (len(heads) - 1) + "l"
    caption = escape_latex(" ".join(words))
    return booktabs(columns, [[head, "bound", *heads]], rows, caption)


def _setting_text(section: SectionTable) -> str:
    """Return the setting of a section in a line."""
    fields = section.point.to_dict()
    names = ("problem", "distribution", "geometry", "q", "n", "d", "m", "p", "seed")
    words = [f"{name} {fields[name]}" for name in names if fields[name] is not None]
    return ", ".join([*words, str(section.point.budget)])


def _print_section(entry: ReproducedPaper, section: SectionTable) -> None:
    """Print a section of a paper: its setting and its statements in numbers."""
    print()
    print_text(f"{section.number}. {section.section.title}: {_quantity_text(section)}")
    print_text(_setting_text(section), indent="   ")
    failures: list[str] = []
    for kind in ("upper", "lower"):
        listed = [s for s in section.statements if s.card.kind == kind]
        if listed:
            print(f"\n{kind.capitalize()} bounds\n")
            print(format_table([statement_cells(entry, s, failures) for s in listed], HEADER))
    print()
    for place, failure in enumerate(failures, start=1):
        print_text(f"({place}) {failure}")
    if failures:
        print()
    _print_methods(section)


def _print_methods(section: SectionTable) -> None:
    """Print the methods that ran, one per row, and the rows of `dpsco bounds` about them."""
    rows = {}
    for statement in section.statements:
        if (runs := statement.measured) is not None:
            interval = f"±{runs.half:.2g}" if runs.half > 0 else ""
            trials = str(runs.trials)
            rows[runs.method] = [runs.method, number(runs.mean), interval, trials, runs.reason]
    if rows:
        print(format_table([*rows.values()], ["method", "measured", "95 %", "trials", ""]))
    proofs = dict.fromkeys(s.proven.bound.card.slug for s in section.statements if s.proven)
    if proofs:
        print_text(f"Proven here: {', '.join(proofs)}.")


def _quantity_text(section: SectionTable) -> str:
    """Return the quantity that all statements of a section bound, or that of its problem."""
    quantities = {s.card.quantity for s in section.statements}
    if len(quantities) == 1:
        (quantity,) = quantities
        return quantity
    return problem_card(section.point.problem).quantity


def statement_cells(entry: ReproducedPaper, statement: Statement, failures: list[str]) -> list[str]:
    """Return the table cells of a statement, which refer to its failing hypotheses by number.

    New failures are appended to `failures`, which numbers them.
    """
    card, row = statement.card, statement.row
    quoted = "" if card.paper == entry.paper else f"{card.paper}: "
    chance = card.guarantee.removeprefix("probability ")
    guarantee = "" if card.guarantee == "expectation" else f" ({100 * float(chance):.0f} %)"
    marks = []
    for failure in row.failures:
        if failure not in failures:
            failures.append(failure)
        marks.append(f"({failures.index(failure) + 1})")
    value = _format_short(row.value)
    return [
        f"{quoted}{card.statement}{guarantee}",
        value if card.is_printed else "",
        statement.constants,
        "" if card.is_printed else value,
        "" if statement.proven is None else _format_short(statement.proven.value),
        "" if statement.measured is None else _format_short(statement.measured.mean),
        "no " + " ".join(marks) if marks else "yes",
    ]


def _format_short(value: float) -> str:
    """Return a number with three digits, in columns that must be narrow."""
    return f"{value:.3g}" if math.isfinite(value) else "-"

"""The texts of Check a claim: its answer in one sentence, and the library's sentences."""

import math
import re

from dpsco_app.pages.check.state import Claim, View
from dpsco_app.parts.options import escaped_markdown, in_print, number_text, rounded
from dpsco_app.parts.problem_words import geometry_name
from dpsco_app.parts.refusals import on_screen
from dpsco_core.catalogue import BOUNDS, DISTRIBUTIONS, bound, method_card
from dpsco_core.geometry.geometries import GEOMETRIES
from dpsco_core.referee.report import Judgement, Report
from dpsco_core.referee.rivals import ROUNDING, check_optimality, class_setting, sharpest_rival

QUESTION = "Does a claimed bound hold?"
LETTERS = (
    "Letters: n, d, m, p (or k), epsilon, delta, rho, D, q, L, kappa, width, G\\_2, G\\_p, M; "
    "functions sqrt, log, exp, min, max. An example that works: "
)
ABOUT_HYPOTHESES = (
    "The claim is tried where all of these hold. Separate several by ;. A claim up to a constant "
    "factor is refuted by no run, but contradicted if the constant that it needs keeps growing."
)
MEANING = """
- n, d, m: records (or users), dimension, items per user; p, or k: the order of the bounded moment.
- ε or epsilon, δ or delta: the privacy budget. ρ or rho: the budget of Gaussian noise, in zCDP.
- D: the diameter of the public set in its norm, 2R of a ball; q: the exponent of that norm; width:
  the Gaussian width of the set.
- L: the Lipschitz constant of every record's loss. kappa: κ, condition number.
- G_2 and G_p: roots of the moments of a record's Lipschitz constant, of order 2 and p. M: the root
  of the p-th moment of a gradient in its worst direction.
"""
ABOUT = (
    "The claim is that the mean error of the method is at most the formula, for all data of its "
    "class. It is compared with proven lower bounds at sizes up to n = 10⁸, and the method runs on "
    "every law, hard instance and set, at extremes of n, d, p and the budget. No check can prove a "
    "claim: it is refuted, contradicted or not. The command line also checks algorithms and "
    "inequalities of your own, in a Python file."
)
# This pattern matches the setting of a trial: a law, a set (omitted for the ball), and fields with
# their values.
PLACE = re.compile(r"\b([a-z][\w-]*)(?: ([a-z][\w-]*))?((?: [nmdpερ]=[\d.e+-]+)+ offset=[\d.e+-]+)")
# The answer for each verdict, if the report has no answer of its own.
HEADLINES: dict[Judgement, str] = {
    "refuted": "Refuted: the claim is false as it stands",
    "contradicts": "Contradicted: the claim would fail if this went on",
    "too few trials": "Not refuted, but some checks had too little time",
    "too few settings": "Hardly tried: its conditions hold at too few settings",
    "not refuted": "Not refuted: no counter-example was found",
    "consistent with": "Not refuted: no counter-example was found",
    "for information": "Nothing about this claim could be tested here",
    "not checked": "Nothing about this claim could be tested here",
}


def headline(report: Report, privacy: Report | None) -> tuple[str, str]:
    """Return the answer of a report, and a sentence of the check that decided it.

    `privacy` is the report on the method's privacy, which comes first if it alone is refuted.
    """
    if privacy is not None and privacy.verdict == "refuted" != report.verdict:
        return "Its privacy is refuted", screen_words(privacy.checks[0].sentence)
    gravest = next(check for check in report.checks if check.verdict == report.verdict)
    is_without_run = report.verdict == "refuted" and gravest.name.startswith("Against")
    if is_without_run:
        return "Refuted without a run: it is below a proven lower bound", screen_words(
            gravest.sentence
        )
    return HEADLINES[report.verdict], f"{gravest.name}: {screen_words(gravest.sentence)}"


def at_a_glance(claim: Claim) -> tuple[str, str]:
    """Return how a claim compares with proven bounds at its scenario: a headline and a sentence.

    Nothing is run for that.
    """
    base, setting = claim.base, class_setting(claim.base)
    failures = claim.bound.failures(setting)
    if failures:
        return "At your scenario the claim says nothing", screen_words(failures[0])
    number = claim.bound.value(setting)
    if not 0 <= number < math.inf:
        text = "undefined" if math.isnan(number) else number_text(number)
        return "At your scenario the claim is no error", f"The formula is {text} there."
    nearest, distances = sharpest_rival(claim.bound, base), check_optimality(claim.bound, base)
    ask = "Press Check to try it at many settings."
    value = rounded(number)
    if nearest is not None and nearest.excess("upper") > 1 + ROUNDING:
        limit = f"{bound(nearest.slug).card.name} is {rounded(nearest.value)} here"
        if claim.is_rate:
            constant = f"at least {rounded(nearest.excess('upper'))}"
            return f"The hidden constant must be {constant} at your scenario", f"{limit}. {ask}"
        text = f"The claim is {value}, and the lower bound {limit}."
        return "Refuted at your scenario: it is below a proven lower bound", f"{text} {ask}"
    parts = [f"{rounded(float(ratio))} times the {what}" for what, _, ratio, _ in distances.rows]
    if not parts:
        return f"At your scenario the claim is {value}", f"No proven bound is comparable. {ask}"
    return f"At your scenario the claim is {' and '.join(parts)}", f"It is {value}. {ask}"


def screen_words(text: str) -> str:
    """Return a sentence of the referee with the names of methods, bounds, laws and sets.

    Examples
    --------
    >>> screen_words("At student-t lq n=1000 d=5 p=3 ε=1 offset=1 it holds.")
    'At Student t, ℓq ball, n = 1,000, d = 5, p = 3, ε = 1, offset = 1 it holds.'
    >>> screen_words("It is above lower.mean.fano-cdp.")
    "It is above CDP Fano, paper's packing."
    """
    names = {b.card.slug: b.card.name for b in BOUNDS}
    for slug in sorted(names, key=len, reverse=True):  # A longer slug may begin with a shorter one.
        text = text.replace(slug, names[slug])
    return on_screen(PLACE.sub(_setting_words, text))


def _setting_words(match: re.Match[str]) -> str:
    """Return the setting of a trial in words: names of law and set, and values of fields."""
    law, body, fields = match.groups()
    laws = {one.card.slug: one.card.name for one in DISTRIBUTIONS}
    names = [laws.get(law, law), *([geometry_name(body)] if body in GEOMETRIES else [])]
    pairs = (field.split("=") for field in fields.split())
    values = [f"{name}={number_text(float(value))}" for name, value in pairs]
    return ", ".join([*names, *values])


def options_line(view: View) -> str:
    """Return the label of the menu of options: the time, the conditions and a hidden constant."""
    hypotheses = f" · if {escaped_markdown(view.hypotheses)}" if view.hypotheses.strip() else ""
    return f"**{view.seconds} s**{hypotheses}{' · up to a constant' if view.rate else ''}"


def claim_line(claim: Claim) -> str:
    """Return the claim as one line of plain symbols."""
    conditions = f", if {' and '.join(claim.hypotheses)}" if claim.hypotheses else ""
    constant = ", up to a hidden constant" if claim.is_rate else ""
    name = method_card(claim.method).name
    return f"{name}: mean error ≤ {in_print(claim.formula + conditions)}{constant}"

"""The values that controls offer, and how numbers and axes are written."""

import math
import re
from collections.abc import Sequence
from typing import Final

from dpsco_core.fields import TABLE
from dpsco_core.privacy.budget import Budget

LARGEST_SEED = 2**53 - 1  # the largest integer that a browser represents exactly


# The values that sliders go through, and the letters of fields that have one.
OPTIONS = {name: known.offered for name, known in TABLE.items() if known.offered}
SYMBOL = {name: known.symbol for name, known in TABLE.items() if known.symbol}
NOTIONS = {"approx": "(ε, δ)", "zcdp": "zCDP", "pure": "pure"}
SHOW = "show"  # the state and the URL parameter of the bounds that are drawn beside the window
AGAINST = "against"  # the parameter of what the second panel shows
HARDEST: Final = "hardest"  # the hardest case known
TAIL: Final = "tail"  # a light or a heavy tail
NO_SET = "none"
PANEL = "panel"  # the parameter of the panels that are drawn
PANELS = ("auto", "both", "first", "second")  # "auto" draws the second panel where it is quick
CARD = "card"  # the parameter of the question that is open
CARDS = ("", "data", "light", "others", "proof", "sliders")
MEASURE = "measure"  # the parameter of what is drawn
MEASURES = ("error", "price")
# the parameter of the scenario that is kept to be compared, as a query of its own
PIN: Final = "pin"
BOUND = "bound"  # the parameter of a bound that is drawn by name
FORMULA = "formula"  # the parameter of a formula that is drawn
VIEWS = ("upper bounds", "lower bounds", "rates")


def budget_text(budget: Budget) -> str:
    """Return a budget as people write it: (1, 10⁻⁶)-DP, 0.5-zCDP or 1-DP."""
    return in_print(str(budget))


def short_text(value: float, digits: int = 3) -> str:
    """Return a number with so many digits, as people write it."""
    return number_text(float(f"{value:.{digits}g}"))


def rounded(value: float) -> str:
    """Return a measured number with two figures, or three where the first is a 1.

    Examples
    --------
    >>> rounded(0.0494), rounded(0.151), rounded(0.2045), rounded(12.34)
    ('0.049', '0.151', '0.20', '12.3')
    """
    if not 0 < value < math.inf:
        return number_text(value) if value == 0 or math.isinf(value) else ""
    exponent = math.floor(math.log10(value) + 1e-12)
    # The power of a number that is nearly 0 would be 0.
    leading = value / 10**exponent if exponent > -300 else float(f"{value:e}".partition("e")[0])
    digits = 2 if leading < 2 else 1
    if exponent < -4:
        return short_text(value, digits + 1)
    return f"{value:,.{max(0, digits - exponent)}f}"


def ranged(low: float, high: float) -> str:
    return rounded(high) if high < 1.02 * low else f"{rounded(low)}–{rounded(high)}"


def at_most(share: float) -> str:
    """Return a share in percents that it does not pass: rounded up, but never to certainty.

    Examples
    --------
    >>> at_most(0.5025), at_most(0.5), at_most(0.9931), at_most(1.0)
    ('50.25 %', '50 %', '99.31 %', '100 %')
    """
    for digits in range(2, 10):
        unit: int = 10**digits
        value = math.ceil(100 * share * unit - 1e-9) / unit
        if value < 100:
            return f"{value:.12g} %"
    return "100 %" if share >= 1 else "nearly 100 %"


def separated(parts: Sequence[str]) -> str:
    """Return names as a list; if some contain commas, semicolons separate them.

    Examples
    --------
    >>> separated(["Simple clipping", "Sample mean"])
    'Simple clipping, Sample mean'
    >>> separated(["Simple clipping", "Coordinate-wise, Gaussian"])
    'Simple clipping; Coordinate-wise, Gaussian'
    """
    return ("; " if any("," in part for part in parts) else ", ").join(parts)


PEOPLE = ("Frank–Wolfe", "Huber")  # names of people with which names of methods begin


def inside(name: str) -> str:
    """Return a name as it is written inside a sentence; abbreviations and people keep capitals.

    Examples
    --------
    >>> inside("Linear loss"), inside("SVM (hinge loss)"), inside("Huber regression")
    ('linear loss', 'SVM (hinge loss)', 'Huber regression')
    """
    word = name.split()[0]
    is_proper = word in PEOPLE or word[1:] != word[1:].lower()
    return name if is_proper else name[0].lower() + name[1:]


def unmarked(text: str) -> str:
    """Return a sentence as Markdown that shows every sign of it.

    Examples
    --------
    >>> print(unmarked("formula must be made of + - * /, got formula=a*b*[c]."))
    formula must be made of + - \\* /, got formula=a\\*b\\*\\[c].
    """
    return re.sub(r"([\\*_`$~\[])", r"\\\1", text)


def in_print(text: str) -> str:
    """Return a sentence of the library as it is printed: δ = 10⁻⁶, not delta=1e-06.

    Examples
    --------
    >>> in_print("It needs rho <= 1, and rho=2.5 at delta=1e-06 on the l2 ball.")
    'It needs ρ ≤ 1, and ρ = 2.5 at δ = 10⁻⁶ on the ℓ₂ ball.'
    >>> in_print("Here they lie in the group-l1 ball, or in an lq ball with q = 1.5.")
    'Here they lie in the group-ℓ₁ ball, or in an ℓq ball with q = 1.5.'
    """
    powers = re.sub(r"\b\d+(?:\.\d+)?e[+-]\d+", lambda e: number_text(float(e[0])), text)
    spaced = re.sub(r"(?<=\w)=(?=[\w.-])", " = ", with_letters(powers))
    return re.sub(r"\bl([12q])(?= )", lambda norm: NORMS[norm[1]], spaced)


_UNIT = re.compile(r"(?<=\d) (?=(?:%|s|ms|MB|GB)(?![\w-]))")


def with_units(text: str) -> str:
    """Return a text whose numbers stay in one line with their units.

    Examples
    --------
    >>> with_units("**13 %** of them in 2 s").replace("\N{NO-BREAK SPACE}", "_")
    '**13_%** of them in 2_s'
    """
    return _UNIT.sub("\N{NO-BREAK SPACE}", text)


NORMS = {"1": "ℓ₁", "2": "ℓ₂", "q": "ℓq"}
LETTERS = {
    **{"epsilon": "ε", "delta": "δ", "rho": "ρ", "beta": "β", "lambda": "λ", "sigma": "σ"},
    **{"tau": "τ", "eta": "η", "kappa": "κ", "Delta": "Δ", "sqrt(": "√(", "<=": "≤", ">=": "≥"},
    **{"^2": "²", "^3": "³", "^4": "⁴"},
}
LETTER = re.compile(
    r"\b(?:epsilon|delta|rho|beta|lambda|sigma|tau|eta|kappa|Delta)(?![a-z])"
    r"|sqrt\(|[<>]=|\^[234]\b"
)


def with_letters(text: str) -> str:
    """Return a condition of the library as formulas are printed: √(d/ρ) ≥ 2, not sqrt(d/rho) >= 2.

    Examples
    --------
    >>> with_letters("rho n^2 >= d R^2, beta <= n^(5/2) epsilon^3")
    'ρ n² ≥ d R², β ≤ n^(5/2) ε³'
    """
    return LETTER.sub(lambda match: LETTERS[match[0]], text)


def number_text(value: float) -> str:
    """Return a number as people write it: 10,000, 10⁻⁶ and ∞."""
    if math.isinf(value):
        return "∞"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{value:,.12g}"
    mantissa, exponent = f"{value:e}".split("e")
    digits = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    front = float(mantissa)
    return f"10{digits}" if front == 1 else f"{front:.12g}·10{digits}"


def value_text(value: object) -> str:
    return number_text(value) if isinstance(value, int | float) else str(value)

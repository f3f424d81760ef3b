"""The values that controls offer, and the format of numbers and axes."""

import math
import re
from collections.abc import Sequence
from typing import Final

from dpsco_core.fields import TABLE
from dpsco_core.privacy.budget import Budget

LARGEST_SEED = 2**53 - 1  # Browsers represent larger integers only approximately.


# The values of each slider, by field.
OPTIONS = {name: known.offered for name, known in TABLE.items() if known.offered}
SYMBOL = {name: known.symbol for name, known in TABLE.items() if known.symbol}
NOTIONS = {"approx": "(ε, δ)", "zcdp": "zCDP", "pure": "pure"}
# The key and address parameter of the bounds that are drawn beside the window of proven errors.
SHOW = "show"
AGAINST = "against"  # The address parameter of the second panel's content.
HARDEST: Final = "hardest"  # A second panel with the hardest case known.
TAIL: Final = "tail"  # A second panel with a light or a heavy tail.
NO_SET = "none"
PANEL = "panel"  # The address parameter of the panels that are drawn.
# The panels to draw; "auto" draws the second panel if it is quick.
PANELS = ("auto", "both", "first", "second")
CARD = "card"  # The address parameter of the question that is open.
CARDS = ("", "data", "light", "others", "proof", "sliders")
MEASURE = "measure"  # The address parameter of the quantity on the vertical axis.
MEASURES = ("error", "price")
# The address parameter of the scenario that is kept for comparison, written as a query of its own.
PIN: Final = "pin"
BOUND = "bound"  # The address parameter of a bound that is drawn by name.
FORMULA = "formula"  # The address parameter of a formula that is drawn.
VIEWS = ("upper bounds", "lower bounds", "rates")


def budget_text(budget: Budget) -> str:
    """Return a budget in the usual notation: (1, 10⁻⁶)-DP, 0.5-zCDP or 1-DP."""
    return in_print(str(budget))


def short_text(value: float, digits: int = 3) -> str:
    """Return a number as text with this many significant digits, as in 10,000 or 10⁻⁶."""
    return number_text(float(f"{value:.{digits}g}"))


def rounded(value: float) -> str:
    """Return a measured number with two significant digits, or three if the first is a 1.

    Examples
    --------
    >>> rounded(0.0494), rounded(0.151), rounded(0.2045), rounded(12.34)
    ('0.049', '0.151', '0.20', '12.3')
    """
    if not 0 < value < math.inf:
        return number_text(value) if value == 0 or math.isinf(value) else ""
    exponent = math.floor(math.log10(value) + 1e-12)
    # Powers of ten far below 1 underflow to 0, so such numbers are formatted instead.
    leading = value / 10**exponent if exponent > -300 else float(f"{value:e}".partition("e")[0])
    digits = 2 if leading < 2 else 1
    if exponent < -4:
        return short_text(value, digits + 1)
    return f"{value:,.{max(0, digits - exponent)}f}"


def ranged(low: float, high: float) -> str:
    """Return a range of numbers as text, or its upper end if both ends agree to within 2 %."""
    return rounded(high) if high < 1.02 * low else f"{rounded(low)}–{rounded(high)}"


def at_most(share: float) -> str:
    """Return an upper bound on a share in percent, rounded up, but below 100 % unless certain.

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


def separated_names(parts: Sequence[str]) -> str:
    """Return names as a list separated by commas, or by semicolons if a name contains a comma.

    Examples
    --------
    >>> separated_names(["Simple clipping", "Sample mean"])
    'Simple clipping, Sample mean'
    >>> separated_names(["Simple clipping", "Coordinate-wise, Gaussian"])
    'Simple clipping; Coordinate-wise, Gaussian'
    """
    return ("; " if any("," in part for part in parts) else ", ").join(parts)


PEOPLE = ("Frank–Wolfe", "Huber")  # Surnames with which names of methods begin.


def inside(name: str) -> str:
    """Return a name as written inside a sentence; abbreviations and surnames keep their capitals.

    Examples
    --------
    >>> inside("Linear loss"), inside("SVM (hinge loss)"), inside("Huber regression")
    ('linear loss', 'SVM (hinge loss)', 'Huber regression')
    """
    word = name.split()[0]
    is_proper = word in PEOPLE or word[1:] != word[1:].lower()
    return name if is_proper else name[0].lower() + name[1:]


def escaped_markdown(text: str) -> str:
    r"""Return a sentence as Markdown with every special character escaped.

    Examples
    --------
    >>> print(escaped_markdown("formula must be made of + - * /, got formula=a*b*[c]."))
    formula must be made of + - \* /, got formula=a\*b\*\[c].
    """
    return re.sub(r"([\\*_`$~\[])", r"\\\1", text)


def in_print(text: str) -> str:
    """Return a sentence of the library in print notation: δ = 10⁻⁶, not delta=1e-06.

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
    """Return a text in which numbers and their units stay on one line.

    Examples
    --------
    >>> with_units("**13 %** of them in 2 s").replace(" ", "_")
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
    """Return a condition of the library in formula notation: √(d/ρ) ≥ 2, not sqrt(d/rho) >= 2.

    Examples
    --------
    >>> with_letters("rho n^2 >= d R^2, beta <= n^(5/2) epsilon^3")
    'ρ n² ≥ d R², β ≤ n^(5/2) ε³'
    """
    return LETTER.sub(lambda match: LETTERS[match[0]], text)


def number_text(value: float) -> str:
    """Return a number in the notation for people: 10,000, 10⁻⁶ or ∞."""
    if math.isinf(value):
        return "∞"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return f"{value:,.12g}"
    mantissa, exponent = f"{value:e}".split("e")
    digits = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    front = float(mantissa)
    return f"10{digits}" if front == 1 else f"{front:.12g}·10{digits}"


def value_text(value: object) -> str:
    """Return any value as text, and a number as `number_text` writes it."""
    return number_text(value) if isinstance(value, int | float) else str(value)

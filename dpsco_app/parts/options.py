"""The values that controls offer, and how numbers and axes are written."""

import math
import re

from dpsco_core.privacy.budget import ZCDP, ApproxDP, Budget, PureDP
from dpsco_core.scenario import AXES

LARGEST_SEED = 2**53 - 1  # of the integers that a browser tells apart


def series(low: int, high: int) -> list[float]:
    numbers = ((float(f"{digit}e{e}"), e) for e in range(low, high + 1) for digit in (1, 2, 5))
    return [int(value) if e >= 0 else value for value, e in numbers][:-2]


OPTIONS: dict[str, list[float]] = {
    "n": series(2, 6),
    "d": series(0, 3),
    "m": [1, 3, 10, 30, 100, 300, 1000, 10_000, 100_000, 1_000_000],
    "epsilon": [*series(-2, 1), 20],
    "delta": [1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3],
    "rho": [*series(-4, 1)],
    "p": [2, 2.2, 2.5, 3, 3.5, 4, 5, 6, 8, 10, 20],
    "margin": [0.1, 0.2, 0.5, 1, 2, 5],
    "diameter": [1, 2, 4, 10, 20, 40, 100, 200],
    "offset": [0, 0.2, 0.5, 1, 2, 5, 10],
    "q": [1, 1.1, 1.25, 1.5, 1.75, 2, 3, 4, 8, math.inf],
    "trials": [5, 10, 20, 50, 100, 200],
}
NOTIONS = {"approx": "(ε, δ)", "zcdp": "zCDP", "pure": "pure"}
SHOW = "show"  # the state and the URL parameter of the views
AGAINST = "against"  # and of the set that is drawn beside
NO_SET = "none"
TAIL = "tail"  # a light or a heavy tail stands beside
PIN = "pin"  # and of the scenario that is kept to be compared, as a query of its own
BOUND = "bound"  # and of a bound that is drawn by name
FORMULA = "formula"  # and of a formula that is drawn
SIDE = "side"  # and of whether both are figures of their own, side by side
VIEWS = ("lower bounds", "rates", "upper bounds")
SHOWN = ("lower bounds", "upper bounds")  # where nobody asks for others
SYMBOL = {axis: axis for axis in AXES} | {"epsilon": "ε", "diameter": "D"}


def budget_text(budget: Budget) -> str:
    """Return a budget as people write it: (1, 10⁻⁶)-DP, 0.5-zCDP or 1-DP."""
    match budget:
        case PureDP(epsilon=epsilon):
            return f"{short_text(epsilon, 4)}-DP"
        case ZCDP(rho=rho):
            return f"{short_text(rho, 4)}-zCDP"
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"({short_text(epsilon, 4)}, {short_text(delta, 4)})-DP"


def short_text(value: float, digits: int = 3) -> str:
    """Return a number with so many digits, as people write it."""
    return number_text(float(f"{value:.{digits}g}"))


def inside(name: str) -> str:
    """Return a name as it is written inside a sentence; its other capitals stay."""
    return name[0].lower() + name[1:]


def in_print(text: str) -> str:
    """Return a sentence of the library as it is printed: δ = 10⁻⁶, not delta=1e-06.

    Examples
    --------
    >>> in_print("It needs rho <= 1, and rho=2.5 at delta=1e-06 on the l2 ball.")
    'It needs ρ ≤ 1, and ρ = 2.5 at δ = 10⁻⁶ on the ℓ₂ ball.'
    """
    powers = re.sub(r"\b\d+(?:\.\d+)?e[+-]\d+", lambda e: number_text(float(e[0])), text)
    return re.sub(r"(?<=\w)=(?=[\w.-])", " = ", with_letters(powers)).replace("l2 ", "ℓ₂ ")


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
    return LETTER.sub(lambda found: LETTERS[found[0]], text)


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

"""Private lower bounds on excess risk from hidden signs, for zCDP.

They are by Fano's argument with distances and by two-sided information: Theorems 2 and 1 of
theory/bounds-everywhere.md, 4, 2.1 and 3. The classes of losses are those of `lower_spikes`.
"""

from dataclasses import replace

from dpsco_core.base.cards import OWN, Proof
from dpsco_core.bounds.base import Bound, Letter
from dpsco_core.bounds.cubes import Value
from dpsco_core.bounds.euclidean.lower_spikes import risk_bound, risk_card, signs_within
from dpsco_core.bounds.instances.prior import SHRUNK
from dpsco_core.bounds.mean import lower_information as information


def _bound_on_signs(
    name: str,
    title: str,
    statement: str,
    summary: str,
    latex: str,
    value: Value,
    *,
    strong: bool,
    letters: tuple[Letter, ...],
    proof: Proof,
    is_fano: bool = False,
) -> Bound:
    """Return the catalogue's lower bound on a risk from hidden signs, for rho-zCDP algorithms.

    `value` computes the bound in moment units; `strong` is for strongly convex losses, and
    otherwise losses are linear.
    """
    unit = r"\frac{g^2}{2\lambda}\max_qq^{2-2/p}" if strong else r"\frac{gM}2\max_qq^{1-1/p}"
    card = risk_card(
        name,
        title,
        f"{statement}, {'quadratic' if strong else 'linear'} losses",
        summary,
        unit + latex,
        "zcdp",
        strong=strong,
        instance="hypercube",
        paper=OWN,
        proof=proof,
        is_fano=is_fano,
        infinite_variance=SHRUNK,
    )
    return risk_bound(card, value, signs_within(strong), letters=letters)


# Lambda is the strong convexity in these formulas, so that the price of loss is called beta.
_RISK_LETTERS = tuple(
    replace(letter, token=r"\beta") if letter.token == r"\lambda" else letter
    for letter in information.BOTH_WAYS
)
INFORMATION_RISKS: tuple[Bound, ...] = tuple(
    bound
    for strong in (False, True)
    for bound in (
        _bound_on_signs(
            "fano-distance-cdp",
            "CDP Fano by distance",
            "Theorem 2 of docs/theory/bounds-everywhere.md, 4",
            information.FANO_SUMMARY,
            information.FANO_SQUARED if strong else information.FANO_LINEAR,
            information.distance_value,
            strong=strong,
            letters=information.BY_DISTANCE,
            proof="fano by distance",
            is_fano=True,
        ),
        _bound_on_signs(
            "two-sided-cdp",
            "CDP two-sided information",
            "Theorem 1 of docs/theory/bounds-everywhere.md, 1 to 3, with Lemma J",
            information.TWO_SIDED_SUMMARY,
            (information.TWO_SIDED_SQUARED if strong else information.TWO_SIDED_LINEAR).replace(
                r"\lambda", r"\beta"
            ),
            information.two_sided_value,
            strong=strong,
            proof="two-sided information",
            letters=_RISK_LETTERS,
        ),
    )
)

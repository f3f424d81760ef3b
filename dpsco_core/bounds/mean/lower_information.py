r"""Lower bounds for zCDP algorithms on all sign patterns: Fano by distance, two-sided information.

They are Theorem 2 of theory/bounds-everywhere.md, 4, and Theorem 1 of its section 1. A bound at a
spike probability holds for the prior with that probability only. So if a setting fixes
``spike_probability``, the bounds are evaluated at that value, and otherwise where they are largest.
"""

from dataclasses import replace
from functools import partial

from dpsco_core.base.cards import OWN, BoundCard
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.base import Bound, Letter
from dpsco_core.bounds.conditions import scaled_mean_bound
from dpsco_core.bounds.cubes import within_cubes
from dpsco_core.bounds.instances import distance, two_sided
from dpsco_core.bounds.instances.prior import SHRUNK, ZCDP_CLASS, prior_within
from dpsco_core.bounds.letters import BINOMIAL, SCALE
from dpsco_core.bounds.mean.lower_priors import at_best, mean_bound_over_prior, on_hypercube
from dpsco_core.problems.base import Setting


def distance_value(setting: Setting, form: Form, cap: float) -> float:
    """Return the lower bound of Fano's type by distance, for means of norm at most `cap`.

    The bound and `cap` are in moment units.
    """
    n, d, order, rho = setting.n, setting.d, setting.moment_order, setting.rho
    best = partial(distance.best, n, d, order, rho, form=form)
    return at_best(setting, cap, lambda q: distance.fano_distance(q, n, d, order, rho, form), best)


def two_sided_value(setting: Setting, form: Form, cap: float) -> float:
    """Return the lower bound by two-sided information, for means of norm at most `cap`.

    The bound and `cap` are in moment units.
    """
    n, d, order, rho = setting.n, setting.d, setting.moment_order, setting.rho
    best = partial(two_sided.best, n, d, order, rho, form=form)
    return at_best(setting, cap, lambda q: two_sided.two_sided(q, n, d, order, rho, form), best)


_SPIKED = (
    SCALE,
    Letter("B", "number of spiked records, at random"),
    Letter(r"\nu", "secret signs, each one equally likely"),
    Letter("y", "any answer"),
)
BY_DISTANCE = (
    *_SPIKED,
    Letter("t", "distance from the answer, or loss"),
    Letter("G", "largest share of all sign patterns within t of an answer"),
    Letter("X", "largest chance that the answer is within t of the secret"),
    Letter("L", "what there is to be learnt about that"),
    Letter("W", "sum of d fair signs, in standard deviations"),
    Letter("s", "level of the cubic bound, the best one"),
    Letter("x", "largest product with a direction that counts, or a chance"),
    Letter("g", "share of patterns"),
    Letter(r"\kappa", "what the output may tell"),
)
BOTH_WAYS = (
    *_SPIKED,
    Letter("H", "height of a line, over all answers"),
    Letter(r"\lambda", "price of a unit of loss, the best one"),
    Letter("c", "level of an answer, the best one"),
    Letter("f", ""),
    Letter(r"\ell", "loss of an answer"),
    Letter("x", "likelihood ratio"),
)
_CHANCE = (
    r",\ "
    + BINOMIAL
    + r",\ X(\kappa,g)=\min\big\{\max\{x:(x-g)\ln\tfrac{x(1-g)}{g(1-x)}\le\kappa(1-2^{-d})"
    r"\},\ e^{-(\sqrt{\ln1/g}-\sqrt\kappa)_+^2}\big\},\ G(t)=\min_{s<x}\frac{E(W-s)_+^3}{(x-s)^3},"
)
_CHANCE_L2 = _CHANCE + r"\ x=\sqrt{d-t^2}"
FANO_DISTANCE = r"\,E\int_0^{\sqrt d}\big(1-X(\rho B^2,G(t))\big)dt" + _CHANCE_L2
FANO_SQUARED = r"\,E\int_0^{\sqrt d}2t\big(1-X(\rho B^2,G(t))\big)dt" + _CHANCE_L2
FANO_LINEAR = r"\,E\int_0^{\sqrt d}\big(1-X(\rho B^2,G(t))\big)dt" + _CHANCE + r"\ x=\sqrt d-t"
_LINES = (
    r"\,E\Big[\max_\lambda\frac{H-\rho B^2(1-2^{-d})}\lambda\Big]_+,\ "
    + BINOMIAL
    + r",\ H=\min_y\max_c\big[c-E\,f^*(c-\lambda\ell_y(\nu))\big],\ f(x)=(x-1)\ln x,"
)
TWO_SIDED_DISTANCE = _LINES + r"\ \ell_y(\nu)=\|\nu-y\|_2"
TWO_SIDED_SQUARED = _LINES + r"\ \ell_y(\nu)=\|\nu-y\|_2^2"
TWO_SIDED_LINEAR = _LINES + r"\ \ell_y(\nu)=\sqrt d-\langle\nu,y\rangle,\ \|y\|_2\le1"
FANO_SUMMARY = (
    "Of Fano's type, by distance: a ball about any answer holds few of all sign patterns, and a "
    "private output makes it little more likely that the secret one is inside. All radii are "
    "used (a single one is the continuum Fano of Duchi and Wainwright, 2013), and divergences of "
    "all orders; there is no packing."
)
TWO_SIDED_SUMMARY = (
    "Privacy bounds how far two outputs' laws differ in both directions, so the output tells less "
    "of a secret sign pattern than its mutual information may be."
)
_DISTANCE = BoundCard(
    slug="lower.mean.fano-distance-cdp",
    name="CDP Fano by distance",
    paper=OWN,
    statement="Theorem 2 of docs/theory/bounds-everywhere.md, 4, error",
    summary=f"{FANO_SUMMARY} {ZCDP_CLASS}",
    kind="lower",
    constant="explicit",
    latex=r"\max_qq^{1-1/p}" + FANO_DISTANCE,
    privacy="zcdp",
    instance="hypercube",
    infinite_variance=SHRUNK,
    proof="fano by distance",
    is_fano=True,
)
_DISTANCE_SQUARED = replace(
    _DISTANCE,
    slug="lower.mean.fano-distance-cdp-squared",
    name="CDP Fano by distance, squared error",
    statement="Theorem 2 of docs/theory/bounds-everywhere.md, 4, squared error",
    quantity="squared l2 error",
    latex=r"\max_qq^{2-2/p}" + FANO_SQUARED,
    drawn=False,
)
_TWO_SIDED = replace(
    _DISTANCE,
    slug="lower.mean.two-sided-cdp",
    name="CDP two-sided information",
    statement="Theorem 1 of docs/theory/bounds-everywhere.md, 1 and 3, with Lemma J",
    summary=f"{TWO_SIDED_SUMMARY} {ZCDP_CLASS}",
    latex=r"\max_qq^{1-1/p}" + TWO_SIDED_DISTANCE,
    proof="two-sided information",
    is_fano=False,
)
_TWO_SIDED_SQUARED = replace(
    _TWO_SIDED,
    slug="lower.mean.two-sided-cdp-squared",
    name="CDP two-sided information, squared error",
    statement="Theorem 1 of docs/theory/bounds-everywhere.md, 1 and 3, squared error",
    quantity="squared l2 error",
    latex=r"\max_qq^{2-2/p}" + TWO_SIDED_SQUARED,
    drawn=False,
)
_WITHIN_R = within_cubes(prior_within(on_hypercube, scaled_mean_bound), strong=False)
INFORMATION_BOUNDS: tuple[Bound, ...] = (
    *(
        mean_bound_over_prior(card, distance_value, _WITHIN_R, letters=BY_DISTANCE)
        for card in (_DISTANCE, _DISTANCE_SQUARED)
    ),
    *(
        mean_bound_over_prior(card, two_sided_value, _WITHIN_R, letters=BOTH_WAYS)
        for card in (_TWO_SIDED, _TWO_SIDED_SQUARED)
    ),
)

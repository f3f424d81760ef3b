"""What the letters of a bound's formula mean, with their values at a setting.

The papers use one letter for several things: M is a diameter in one family of bounds and a moment
in another. A family's own meanings come before the common ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from dpsco_core.bounds import Bound
from dpsco_core.bounds.conditions import moment_scale
from dpsco_core.bounds.euclidean.objective import width
from dpsco_core.methods.lq.inputs import own_constants, space_of
from dpsco_core.privacy.budget import ApproxDP, PureDP
from dpsco_core.problems import Setting
from dpsco_core.results.report import bound_setting
from dpsco_core.scenario import Scenario

Value = Callable[[Setting], float]
PROBABILITIES = {"probability 0.9": 0.1, "probability 0.95": 0.05}


@dataclass(frozen=True, kw_only=True)
class Symbol:
    """A letter as LaTeX, what it means, and its value; NaN where it has none of its own."""

    latex: str
    meaning: str
    value: float


@dataclass(frozen=True)
class _Entry:
    token: str
    meaning: str
    value: Value = lambda _: math.nan


def _epsilon(setting: Setting) -> float:
    budget = setting.budget
    return budget.epsilon if isinstance(budget, (PureDP, ApproxDP)) else math.nan


def _delta(setting: Setting) -> float:
    return setting.budget.delta if isinstance(setting.budget, ApproxDP) else math.nan


def _dual(field: str) -> Value:
    return lambda s: float(getattr(own_constants(s), field))


def _constant(field: str) -> Value:
    return lambda s: float(getattr(s.constants, field))


_DIAMETER, _LIPSCHITZ = _constant("diameter"), _constant("lipschitz")
_COMMON = (
    _Entry("n", "records (users, where they have several items)", lambda s: s.n),
    _Entry("m", "items per user", lambda s: s.m),
    _Entry("d", "dimension", lambda s: s.d),
    _Entry("p", "tail index: the order of the moment that is bounded", lambda s: s.moment_order),
    _Entry(r"\rho", "zCDP budget that Gaussian noise may spend", lambda s: s.gaussian_rho),
    _Entry(r"\varepsilon", "privacy budget", _epsilon),
    _Entry(r"\delta", "failure probability of privacy", _delta),
    _Entry("D", "diameter of the set, in l2", _DIAMETER),
    _Entry("M", "diameter of the set, in l2", _DIAMETER),
    _Entry("L", "Lipschitz constant of every record's loss", _LIPSCHITZ),
    _Entry(
        "R",
        "bound on the norm of the mean, or of the mean gradient",
        lambda s: s.constants.mean_gradient_bound,
    ),
    _Entry(r"\lambda", "strong convexity", lambda s: s.constants.strong_convexity),
    _Entry(r"\beta", "smoothness of every record's loss", lambda s: s.constants.sample_smoothness),
    _Entry(r"\tau", "clipping threshold"),
    _Entry("T", "number of steps"),
    _Entry("q", "spike probability, the best one"),
    _Entry("G_C", "Gaussian width of the set", width),
    _Entry("G", "Gaussian width of the set", width),
)
_MOMENT = _Entry(
    "M", "directional moment of the gradients (its root)", lambda s: s.constants.directional_moment
)
_SMOOTH = _Entry("L", "smoothness of the population risk", lambda s: s.constants.smoothness)
_SCALE = _Entry("g", "root of the coordinates' moment", moment_scale)
_RADIUS = _Entry("R", "clip radius, the best one")
_HIDDEN = _Entry("D", "")  # an index inside the formula
_LOWER = (
    _SCALE,
    _HIDDEN,
    _Entry("N", "number of words of the packing"),
    _Entry("B", "number of spiked records, at random"),
)
_LQ = (
    _Entry("q", "exponent of the parameters' norm", lambda s: s.exponent),
    _Entry("M", "diameter of the set in the parameters' norm", _dual("diameter")),
    _Entry("L", "Lipschitz constant in the dual norm", _dual("lipschitz")),
    _Entry(r"\sigma", "deviation of the gradients in the dual norm", lambda s: _deviation(s)),
    _Entry(r"\beta", "smoothness in the parameters' norm", _dual("smoothness")),
    _Entry("G", "bound on the population gradient, dual norm", _dual("mean_gradient_bound")),
    _Entry(r"\theta^*", "the minimiser, of norm at most", _dual("radius")),
    _Entry("R_q", "largest norm of a point of the set", _dual("radius")),
    _Entry(r"\kappa", "regularity of the dual norm, as printed", lambda s: _kappa(s)),
    _Entry(r"\lambda", "truncation level, the best one"),
    _Entry(r"\gamma", "weight of the mirror map"),
    _Entry(r"\mu", "weight of the regulariser"),
)
# The explicit bounds have a regularity of their own, which their formulas define.
_LQ_EXPLICIT = (
    *(entry for entry in _LQ if entry.token != r"\kappa"),
    _Entry(r"\kappa", "regularity of a smooth norm near the dual one"),
    _Entry("m", "number of gradient steps"),
)
_USER = (
    _Entry("D", "radius of the set: half its diameter", lambda s: s.constants.diameter / 2),
    _Entry(r"\lambda_i", "weight of the regulariser in phase i"),
    _Entry("R", "diameter of the set", _DIAMETER),
    _Entry(r"\mu", "strong convexity of the loss", lambda s: s.constants.sample_strong_convexity),
    _Entry(r"\kappa", "smoothness in units of L/R", lambda s: _condition(s)),
)


def _deviation(setting: Setting) -> float:
    return math.sqrt(own_constants(setting).variance)


def _kappa(setting: Setting) -> float:
    return space_of(setting).printed_kappa if 1 <= setting.exponent <= 2 else math.nan


def _condition(setting: Setting) -> float:
    c = setting.constants
    return c.sample_smoothness * c.diameter / c.lipschitz if c.lipschitz > 0 else math.nan


# The first pattern that a slug matches gives its family; the rest is common.
_FAMILIES: tuple[tuple[str, tuple[_Entry, ...]], ...] = (
    (
        r"lower\.mean\.bounded.*|lower\.sco(-strong)?\.sampling-signs",
        (
            *_LOWER,
            _Entry(r"\delta", "bias of the signs, the best one"),
        ),
    ),
    (
        r"lower\.mean\.fano-cdp-gilbert",
        (
            *_LOWER,
            _Entry(r"\delta", "distance of the code, the best one"),
        ),
    ),
    (r"lower\.sco-strong\.width|lower\.sco\.rate-lipschitz", ()),
    (r"lower\.user.*|upper\.user.*", _USER),
    (r"lower.*", _LOWER),
    (
        r"upper\.mean\.(clipped|iterative).*",
        (
            _MOMENT,
            _SCALE,
            _RADIUS,
            _Entry("k", "number of groups"),
            _Entry(
                "R_0", "bound on the norm of the mean", lambda s: s.constants.mean_gradient_bound
            ),
        ),
    ),
    (
        r"upper\.sco\.(clipped|iterative).*",
        (
            _MOMENT,
            _RADIUS,
            _Entry("G", "deviation of the clipped gradient"),
            _Entry("B", "bias of the clipped gradient"),
            _Entry(r"\lambda", "smoothness of the loss", lambda s: s.constants.sample_smoothness),
        ),
    ),
    (r"upper\.mean.*", (_Entry("m", "number of blocks"), _Entry("b", "records a block"))),
    (r"upper\.sco\.smoothed-paper", (_SMOOTH, _Entry("q", "a free power, the best one"))),
    (
        r"upper\.sco\.cwme-strong-e.*|upper\.sco\.cwme-strong-f.*",
        (
            _SMOOTH,
            _Entry("q", "contraction of a step"),
            _Entry("G", "deviation of the estimated gradient"),
        ),
    ),
    (
        r"upper\.sco\.(cwme|smoothed|prior-wang).*",
        (
            _SMOOTH,
            _Entry("G", "deviation of the estimated gradient"),
            _Entry("B", "bias of the estimated gradient"),
            _Entry("m", "number of blocks"),
            _Entry("b", "records a block"),
        ),
    ),
    (
        r"upper\.sco\.private-sgd.*",
        (
            _Entry("m", "number of gradient steps"),
            _Entry(r"\sigma", "deviation of a step's noise"),
        ),
    ),
    (
        r"upper\.sco\.objective-perturbation.*-explicit|.*objective-perturbation-paper",
        (
            _Entry(r"\lambda", "weight of the regulariser, or the strong convexity"),
            _Entry(r"\alpha", "accuracy of the solver"),
            _Entry("k", "rank of a record's Hessian"),
        ),
    ),
    (r"upper\.lp\..*-(explicit|generalized|paper)", _LQ_EXPLICIT),
    (r"upper\.lp.*", _LQ),
)


def symbols(point: Scenario, which: Bound) -> tuple[Symbol, ...]:
    """Return the letters of a bound's formula, in the order in which a reader looks them up.

    Parameters
    ----------
    point : Scenario
        A single point whose problem the bound is about.
    which : Bound
    """
    setting = which.seen(bound_setting(point, which))
    family = next((e for pattern, e in _FAMILIES if re.fullmatch(pattern, which.card.slug)), ())
    chance = PROBABILITIES.get(which.card.guarantee)
    own = {entry.token: entry for entry in family}
    if chance is not None and r"\beta" not in own:
        own[r"\beta"] = _Entry(r"\beta", "chance that the bound fails", lambda _: chance)
    if which.card.kind == "lower" and which.card.privacy != "pure":
        own.setdefault(
            r"\rho", _Entry(r"\rho", "zCDP budget of the algorithms that it binds", _lower_rho)
        )
    merged = {entry.token: entry for entry in _COMMON} | own
    order = [e.token for e in _COMMON] + [t for t in own if t not in {e.token for e in _COMMON}]
    return tuple(
        Symbol(latex=token, meaning=merged[token].meaning, value=merged[token].value(setting))
        for token in order
        if merged[token].meaning and contains(which.card.latex, token)
    )


def _lower_rho(setting: Setting) -> float:
    return setting.rho


def contains(latex: str, token: str) -> bool:
    r"""Return whether a formula contains a letter, a command, or a letter with an index.

    Examples
    --------
    >>> contains(r"\sqrt{d}\rho_2", "d"), contains(r"\delta", "d"), contains(r"\rho_2", r"\rho")
    (True, False, False)
    """
    if token.startswith("\\"):
        return re.search(re.escape(token) + r"(?![a-zA-Z_])", latex) is not None
    bare = re.sub(r"\\(?:text|mathrm)\{[^}]*\}", " ", latex)
    bare = re.sub(r"\\[a-zA-Z]+", " ", bare)
    return re.search(rf"{re.escape(token)}(?![_'])", bare) is not None

"""Letters of the formulas in l_q, where constants are in the norm and its dual."""

import math
from collections.abc import Callable

from dpsco_core.bounds.base import Letter
from dpsco_core.methods.lq.inputs import own_constants, space_of
from dpsco_core.problems.base import Setting


def _dual(field: str) -> Callable[[Setting], float]:
    return lambda setting: float(getattr(own_constants(setting), field))


def _deviation(setting: Setting) -> float:
    return math.sqrt(own_constants(setting).variance)


def _kappa(setting: Setting) -> float:
    return space_of(setting).printed_kappa if 1 <= setting.exponent <= 2 else math.nan


_SHARED = (
    Letter("q", "exponent of the parameters' norm", lambda s: s.exponent),
    Letter("M", "diameter of the set in the parameters' norm", _dual("diameter")),
    Letter("L", "Lipschitz constant in the dual norm", _dual("lipschitz")),
    Letter(r"\sigma", "deviation of the gradients in the dual norm", _deviation),
    Letter(r"\beta", "smoothness in the parameters' norm", _dual("smoothness")),
    Letter("G", "bound on the population gradient, dual norm", _dual("mean_gradient_bound")),
    Letter(r"\theta^*", "the minimiser, of norm at most", _dual("radius")),
    Letter("R_q", "largest norm of a point of the set", _dual("radius")),
    Letter(r"\lambda", "truncation level, the best one"),
    Letter(r"\gamma", "weight of the mirror map"),
    Letter(r"\mu", "weight of the regulariser"),
)
RATES = (*_SHARED, Letter(r"\kappa", "regularity of the dual norm, as printed", _kappa))
# The explicit bounds have a regularity of their own, which their formulas define.
EXPLICIT = (
    *_SHARED,
    Letter(r"\kappa", "regularity of a smooth norm near the dual one"),
    Letter("m", "number of gradient steps"),
)

"""The upper bounds on mean estimation, as catalogue rows over a `Setting`.

Gaussian methods are evaluated at ``setting.gaussian_rho`` and pure ones at
``setting.pure_epsilon``; where the budget or a certified constant does not exist the value is
infinite and a hypothesis says why. The slug names the method, then the form: nothing for the rate,
``-logs`` with logarithms, ``-paper`` with the printed constants, ``-probability`` and
``-expected`` for the explicit forms.
"""

from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.mean.adaptive import ADAPTIVE_BOUNDS
from dpsco_core.bounds.mean.clipped import CLIPPED_BOUNDS
from dpsco_core.bounds.mean.coordinatewise import COORDINATEWISE_BOUNDS
from dpsco_core.bounds.mean.iterative import ITERATIVE_BOUNDS
from dpsco_core.bounds.mean.sampling import SAMPLING_BOUNDS
from dpsco_core.bounds.mean.smoothed import SMOOTHED_BOUNDS

UPPER_MEAN_BOUNDS: tuple[Bound, ...] = (
    *SAMPLING_BOUNDS,
    *COORDINATEWISE_BOUNDS,
    *SMOOTHED_BOUNDS,
    *CLIPPED_BOUNDS,
    *ITERATIVE_BOUNDS,
    *ADAPTIVE_BOUNDS,
)

"""Every bound on the excess population risk, in the order of a catalogue.

Gaussian methods are evaluated at ``setting.gaussian_rho``. Where the budget or a certified constant
does not exist, an upper bound is infinite, a lower bound is 0, and a hypothesis says why.

A slug names the method and then the form of the bound: nothing for the rate, ``-logs`` for a rate
with logarithms, ``-paper`` for a bound as printed, ``-probability`` for a rate that holds with
probability 0.95, ``-explicit`` for one with every constant proven. In l_q, ``-generalized`` means
noise shaped to the norm, ``-paper`` the parameters of the theorem, and ``-free`` a step size that
needs no distance. After ``projected-`` and ``one-step-`` comes the bound on means from which a risk
follows. Amid et al. (2022), in Table 1 of Su et al. (2023), has no row, because its formula is
garbled there.
"""

from dpsco_core.bounds.base import Bound
from dpsco_core.bounds.euclidean.clipped import CLIPPED_RISKS, ITERATIVE_RISKS
from dpsco_core.bounds.euclidean.coordinatewise import COORDINATEWISE_RISKS
from dpsco_core.bounds.euclidean.floors import FLOOR_RISKS
from dpsco_core.bounds.euclidean.fresh_batches import FRESH_BATCHES_RISKS
from dpsco_core.bounds.euclidean.lipschitz_moments import (
    LIPSCHITZ_MOMENT_LOWER,
    LIPSCHITZ_MOMENT_RATES,
)
from dpsco_core.bounds.euclidean.lower_information import INFORMATION_RISKS
from dpsco_core.bounds.euclidean.lower_other import OTHER_RISKS
from dpsco_core.bounds.euclidean.lower_priors import LOWER_PRIOR_RISKS
from dpsco_core.bounds.euclidean.lower_spikes import SPIKE_RISKS
from dpsco_core.bounds.euclidean.objective import OBJECTIVE_RISKS, STRONG_OBJECTIVE_RISKS
from dpsco_core.bounds.euclidean.one_step import ONE_STEP_RISKS
from dpsco_core.bounds.euclidean.prior import PRIOR_RISKS
from dpsco_core.bounds.euclidean.private_sgd import PRIVATE_SGD_RISKS
from dpsco_core.bounds.euclidean.projected import PROJECTED_RISKS
from dpsco_core.bounds.euclidean.runs import RUN_RISKS
from dpsco_core.bounds.euclidean.smoothed import SMOOTHED_RISKS
from dpsco_core.bounds.euclidean.strong import STRONG_COORDINATEWISE_RISKS
from dpsco_core.bounds.euclidean.unseen import UNSEEN_RISKS
from dpsco_core.bounds.losses.rows import LOSS_RISKS
from dpsco_core.bounds.lq.lower import WORD_RISKS
from dpsco_core.bounds.lq.mirror import DESCENT_RISKS
from dpsco_core.bounds.lq.noisy import NOISY_RISKS
from dpsco_core.bounds.lq.phased import PHASED_RISKS
from dpsco_core.bounds.lq.rates import LQ_RATES
from dpsco_core.bounds.lq.regularized import REGULARIZED_RISKS
from dpsco_core.bounds.without_data import WITHOUT_DATA_RISKS

UPPER_SCO_BOUNDS: tuple[Bound, ...] = (
    *COORDINATEWISE_RISKS,
    *SMOOTHED_RISKS,
    *STRONG_COORDINATEWISE_RISKS,
    *PROJECTED_RISKS,
    *ONE_STEP_RISKS,
    *CLIPPED_RISKS,
    *ITERATIVE_RISKS,
    *PRIVATE_SGD_RISKS,
    *OBJECTIVE_RISKS,
    *STRONG_OBJECTIVE_RISKS,
    *PRIOR_RISKS,
    *LIPSCHITZ_MOMENT_RATES,
    *LQ_RATES,
    *REGULARIZED_RISKS,
    *PHASED_RISKS,
    *DESCENT_RISKS,
    *NOISY_RISKS,
    *RUN_RISKS,
    *FRESH_BATCHES_RISKS,
    *WITHOUT_DATA_RISKS,
)
LOWER_SCO_BOUNDS: tuple[Bound, ...] = (
    *INFORMATION_RISKS,
    *SPIKE_RISKS,
    *LOWER_PRIOR_RISKS,
    *OTHER_RISKS,
    *UNSEEN_RISKS,
    *LIPSCHITZ_MOMENT_LOWER,
    *WORD_RISKS,
    *FLOOR_RISKS,
    *LOSS_RISKS,
)
SCO_BOUNDS: tuple[Bound, ...] = (*UPPER_SCO_BOUNDS, *LOWER_SCO_BOUNDS)

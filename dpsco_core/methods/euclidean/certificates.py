"""The privacy certificates of private SGD: for noise that is enough, and for the printed noise."""

import math
from dataclasses import replace

from dpsco_core.base.errors import NotApplicable
from dpsco_core.methods.base import Calibration
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.shuffled_steps import ShuffledSteps, shuffle_steps
from dpsco_core.problems.base import Setting
from dpsco_core.statements.arora import remark_1_epsilon


def certified_steps(setting: Setting, calibration: Calibration) -> ShuffledSteps | None:
    """Return the privacy proof of the steps under an (epsilon, delta) budget; None under zCDP.

    In the paper's calibration it is `paper_certificate`, which may raise `NotApplicable`.
    """
    if calibration == "paper":
        return paper_certificate(setting)
    budget = setting.budget
    if isinstance(budget, ApproxDP):
        return shuffle_steps(setting.n, budget.epsilon, budget.delta)
    return None


def paper_certificate(setting: Setting) -> ShuffledSteps:
    r"""Return the certificate of Arora et al. (2020), Theorem 6, in the form of Remark 1.

    The noise is :math:`\sigma = 64L\ln(3/\delta)/(\sqrt n\varepsilon)`, which is
    32 ln(3/delta)/(sqrt(n) epsilon) times the sensitivity 2L. A certificate for one rho per step
    holds for any smaller rho as well.

    Raises `NotApplicable` outside the regime of Remark 1, with the epsilon of Theorem 6.
    """
    n, budget = setting.n, setting.budget
    if not isinstance(budget, ApproxDP):
        raise NotApplicable(
            "The paper's noise is stated for (epsilon, delta) budgets only.", calibration="tight"
        )
    log = math.log(3 / budget.delta)
    _require_range(n >= 16, "n >= 16", f"n={n}", ("n", 16))
    _require_range(
        budget.delta <= 3 * math.exp(-4),
        "delta <= 3 exp(-4)",
        f"delta={budget.delta:g}",
        ("delta", 1e-6),
    )
    fewest_records = math.ceil(16 * math.log(6 / budget.delta))
    _require_range(
        n >= fewest_records,
        "delta >= 6 exp(-n/16)",
        f"delta={budget.delta:g} at n={n}",
        ("n", fewest_records),
    )
    largest = remark_1_epsilon(n, budget.delta)
    _require_range(
        budget.epsilon <= largest,
        f"epsilon <= 4 sqrt(ln(3/delta)/n) = {largest:.3g}",
        f"epsilon={budget.epsilon:g}",
        ("epsilon", float(f"{largest * 0.999:.3g}")),
    )
    multiplier = 32 * log / (math.sqrt(n) * budget.epsilon)
    sound = shuffle_steps(n, budget.epsilon, budget.delta)
    return replace(sound, rho_step=min(sound.rho_step, 1 / (2 * multiplier**2)))


def _require_range(holds: bool, condition: str, actual: str, change: tuple[str, float]) -> None:
    """Raise `NotApplicable` unless a condition of Remark 1 holds."""
    if not holds:
        raise NotApplicable(
            f"Theorem 6 (Remark 1) holds for {condition}, and here {actual}.",
            nearest=f"set {change[0]}={change[1]:g}, or calibration=tight",
            changes=(change,),
        )

r"""Bounds on private SGD over half of the records: Arora, Marinov and Ullah (2020), Algorithm 1.

The method makes :math:`m=\lfloor n/2\rfloor+1` gradient steps in secret random order, with
noise-only steps in between, N steps in all. The noise has deviation :math:`\sigma` per coordinate.
D bounds the distance of the first iterate, the centre of the set, from the minimiser: in the paper
it is the diameter, in a centred ball half the diameter. See theory/arora-marinov-ullah.md, 2.1 and
3.
"""

import math
from collections.abc import Callable

from scipy.special import digamma

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020, BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, bound_like, set_letters
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean.conditions import (
    DIAMETER,
    LIPSCHITZ,
    Formula,
    approximate,
    name_terms,
)
from dpsco_core.bounds.rate import bound_at_rate, is_approximate, two_terms
from dpsco_core.bounds.tools import enough_records, root_sum_square
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.privacy.shuffled_steps import shuffle_steps
from dpsco_core.problems import SCO_PROBLEMS
from dpsco_core.problems.base import Setting
from dpsco_core.statements.arora import remark_1_epsilon, theorem_4_step


def gradient_steps(n: int) -> int:
    r"""Return Algorithm 1's number of gradient steps on n records, floor(n/2) + 1."""
    return n // 2 + 1


def expected_steps(n: int) -> float:
    r"""Return :math:`EN=n(H_n-H_{n-m})`, the expected number of steps of any kind.

    Examples
    --------
    >>> round(expected_steps(16), 6), round(expected_steps(1000), 6)
    (12.60595, 694.647431)
    """
    m = gradient_steps(n)
    if n <= 64:
        return math.fsum(n / (n - k) for k in range(m))
    return n * float(digamma(n + 1) - digamma(n - m + 1))


def sound_noise(setting: Setting) -> float:
    r"""Return the least deviation :math:`\sigma` of a step's noise that is proven to be private.

    A step has sensitivity 2L, and a record enters one step. Under (epsilon, delta) it is the
    smaller one that the two accountants of `shuffle_steps` allow. Under zCDP it is
    :math:`2L/\sqrt{2\rho}`, without amplification, and under a pure budget it is infinite.
    """
    budget, lipschitz = setting.budget, setting.constants.lipschitz
    if isinstance(budget, ApproxDP):
        plan = shuffle_steps(setting.n, budget.epsilon, budget.delta)
        return 2 * lipschitz * plan.noise_multiplier
    rho = setting.gaussian_rho
    return 2 * lipschitz / math.sqrt(2 * rho) if rho > 0 else math.inf


def printed_noise(setting: Setting, budget: ApproxDP) -> float:
    r"""Return the deviation of a step's noise as Theorem 6 prints it.

    .. math:: \sigma=\frac{8L\sqrt{\ln(1/\delta)}}{\sqrt n\,\varepsilon}
    """
    lipschitz = setting.constants.lipschitz
    size = math.sqrt(setting.n) * budget.epsilon
    return 8 * lipschitz * math.sqrt(-math.log(budget.delta)) / size


def regret(setting: Setting, noise_std: float) -> tuple[float, float]:
    r"""Return the gradient and the noise term of the printed regret over the m averaged steps.

    By Lemma 1 and Corollary 1 their sum :math:`\frac{2\sqrt n}mD(L+\sigma\sqrt d)` bounds the mean
    excess risk.
    """
    c, n = setting.constants, setting.n
    scale = 2 * math.sqrt(n) / gradient_steps(n) * c.diameter
    return scale * c.lipschitz, scale * noise_std * math.sqrt(setting.d)


def utility(setting: Setting, noise_std: float) -> tuple[float, float]:
    """Return Theorem 4's bound on the mean excess risk: its gradient and its noise term."""
    c = setting.constants
    scale = 2.5 * c.diameter / math.sqrt(setting.n)
    return scale * c.lipschitz, scale * noise_std * math.sqrt(setting.d)


def sharp(
    setting: Setting, noise_std: float, *, step: float | None = None
) -> tuple[float, float, float]:
    r"""Return the optimisation, gradient and noise terms of a sharp form of Theorem 4.

    .. math:: \frac{D^2}{2\eta m}+\frac{\eta(L^2m+\sigma^2d\,EN)}{2m}

    This bounds the mean excess risk, with D half the diameter and :math:`\eta` the step size
    `step`; None is the best one (theory/arora-marinov-ullah.md, 3).
    """
    c, n, distance = setting.constants, setting.n, 0.5 * setting.constants.diameter
    m = gradient_steps(n)
    steps = c.lipschitz**2 * m
    noise = noise_std**2 * setting.d * expected_steps(n)
    if math.isinf(noise):
        return math.inf, math.inf, math.inf
    if step is None:
        step = distance / math.sqrt(steps + noise) if steps + noise > 0 else math.inf
    if math.isinf(step):
        return 0.0, 0.0, 0.0
    return distance**2 / (2 * step * m), step * steps / (2 * m), step * noise / (2 * m)


def pruned(setting: Setting, noise_std: float) -> tuple[float, float]:
    """Return two numbers whose root sum square bounds the risk without noise-only steps.

    They are due to the gradients and to the noise: B7 of theory/arora-marinov-ullah.md, 2.6, with m
    gradients, and half the diameter for D.
    """
    c = setting.constants
    scale = 0.5 * c.diameter / math.sqrt(gradient_steps(setting.n))
    return scale * c.lipschitz, scale * noise_std * math.sqrt(setting.d)


def printed_step(setting: Setting, noise_std: float, distance: float) -> float:
    """Return the step size that Theorem 4 prints for a noise and a distance to the minimiser."""
    lipschitz = setting.constants.lipschitz
    return theorem_4_step(setting.n, setting.d, lipschitz, noise_std, distance)


def main_theorem(setting: Setting, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the sampling and the private term of Theorem 6's bound on the mean excess risk.

    The theorem's epsilon and delta are parameters of its noise, not the privacy guarantee: see
    `theorem_parameters`.
    """
    n, scale = setting.n, setting.constants.lipschitz * setting.constants.diameter
    noise = math.sqrt(-setting.d * math.log(delta))
    return 5 * scale / math.sqrt(n), 20 * scale * noise / (epsilon * n)


def theorem_parameters(n: int, budget: ApproxDP) -> tuple[float, float]:
    """Return the epsilon and delta of Theorem 6 at which its guarantee is `budget`.

    The theorem's delta' is set to its delta. Both are NaN if the delta of the budget is at most
    2 exp(-n/16).
    """
    left = (budget.delta - 2 * math.exp(-n / 16)) / 2
    if left <= 0:
        return math.nan, math.nan
    return budget.epsilon / (4 * (math.sqrt(-math.log(left)) + 2)), left


def remark(setting: Setting, budget: ApproxDP) -> tuple[float, float]:
    r"""Return the sampling and the private term of Remark 1's bound on the mean excess risk.

    It is Theorem 6 at :math:`\delta_6=\delta/3` and
    :math:`\varepsilon_6=\varepsilon/(8\sqrt{\ln(3/\delta)})`.
    """
    n, scale = setting.n, setting.constants.lipschitz * setting.constants.diameter
    noise = 160 * scale * math.sqrt(setting.d) * math.log(3 / budget.delta)
    return 5 * scale / math.sqrt(n), noise / (budget.epsilon * n)


def _at_noise(formula: Callable[[Setting, float], tuple[float, ...]]) -> Formula:
    """Return the function that evaluates a formula at a setting and its `sound_noise`."""
    return lambda setting: formula(setting, sound_noise(setting))


def _at_budget(formula: Callable[[Setting, ApproxDP], tuple[float, ...]]) -> Formula:
    """Return the function that evaluates a formula at a setting and its budget."""

    def terms(setting: Setting) -> tuple[float, ...]:
        """Return the terms of the formula; infinite unless the budget is (epsilon, delta)."""
        budget = setting.budget
        return formula(setting, budget) if isinstance(budget, ApproxDP) else (math.inf, math.inf)

    return terms


def _theorem_terms(setting: Setting, budget: ApproxDP) -> tuple[float, float]:
    """Return the terms of Theorem 6 whose guarantee is `budget`; infinite if there are none."""
    parameters = theorem_parameters(setting.n, budget)
    return (math.inf, math.inf) if math.isnan(parameters[1]) else main_theorem(setting, *parameters)


def _condition_on_budget(sentence: Callable[[int, ApproxDP], str], text: str) -> Hypothesis:
    """Return a condition on n and an (epsilon, delta) budget, which all other budgets meet.

    `sentence` returns the reason why it fails, empty if it holds.
    """
    return Hypothesis(
        text=text,
        check=lambda s: sentence(s.n, s.budget) if isinstance(s.budget, ApproxDP) else "",
    )


def _check_remark_delta(n: int, budget: ApproxDP) -> str:
    """Return the reason why delta is outside the range of Remark 1; empty if it is not."""
    low, high = 6 * math.exp(-n / 16), 3 * math.exp(-4)
    if low <= budget.delta <= high:
        return ""
    return (
        f"Remark 1 needs 6 exp(-n/16) = {low:.3g} <= delta <= 3 exp(-4) = {high:.3g}, "
        f"and delta={budget.delta:g} at n={n}."
    )


def _check_remark_epsilon(n: int, budget: ApproxDP) -> str:
    """Return the reason why epsilon is too large for Remark 1; empty if it is not."""
    largest = remark_1_epsilon(n, budget.delta)
    if budget.epsilon <= largest:
        return ""
    return (
        f"Theorem 6 covers epsilon <= 4 sqrt(ln(3/delta)/n) = {largest:.3g}, "
        f"and epsilon={budget.epsilon:g}."
    )


def _check_theorem_delta(n: int, budget: ApproxDP) -> str:
    """Return the reason why delta is too small for Theorem 6; empty if it is not."""
    smallest = 2 * math.exp(-n / 16)
    if budget.delta > smallest:
        return ""
    return (
        f"Theorem 6 needs delta above 2 exp(-n/16) = {smallest:.3g}, and delta={budget.delta:g} at "
        f"n={n}."
    )


def _check_theorem_epsilon(n: int, budget: ApproxDP) -> str:
    """Return the reason why epsilon is too large for Theorem 6; empty if it is not."""
    theorem_epsilon, _ = theorem_parameters(n, budget)
    largest = 1 / (2 * math.sqrt(n))
    if math.isnan(theorem_epsilon) or theorem_epsilon <= largest:
        return ""
    return (
        f"Theorem 6 needs its epsilon at most 1/(2 sqrt(n)) = {largest:.3g}, and the budget's "
        f"epsilon={budget.epsilon:g} makes it {theorem_epsilon:.3g}."
    )


_LOSSES = (LIPSCHITZ, DIAMETER)
_BUDGET = (approximate(math.inf), enough_records("16", lambda setting: 16))
REMARK_1 = (
    *_LOSSES,
    *_BUDGET,
    _condition_on_budget(_check_remark_delta, "6 exp(-n/16) <= delta <= 3 exp(-4)"),
    _condition_on_budget(_check_remark_epsilon, "epsilon <= 4 sqrt(ln(3/delta)/n)"),
)
_NOISY = (GAUSSIAN_BUDGET, *_LOSSES)
_NEEDS = ("lipschitz", "diameter")
_NOISY_NEEDS = ("gaussian_rho", "lipschitz", "diameter")
_NAMES = ("sampling", "privacy")
_SOUND = (
    "The noise is the least that two sound accountants allow: without amplification, or by "
    "shuffling under an (epsilon, delta) budget."
)
_SIGMA = (
    r"\sigma\text{ the least with }2L/\sigma\text{-Gaussian steps }"
    r"(\varepsilon,\delta)\text{-DP after shuffling}"
)
_RATE = two_terms(
    "1/sqrt(n)", "sqrt(d)*ln(3/delta)/(epsilon*n)", unit="L*D", applies=is_approximate
)
_CARD = BoundCard(
    slug="upper.sco.private-sgd",
    name="Private SGD, rate",
    paper=ARORA_2020,
    statement="Theorem 6 with Remark 1",
    summary="The rate of one noisy pass over half of the records in random order, for any "
    "Lipschitz loss, smooth or not, and small epsilon; constants are set to 1.",
    kind="upper",
    quantity="excess risk",
    constant="rate",
    latex=_RATE.latex,
    privacy="approx",
    method="sco.private-sgd",
    loss_class=classes.LIPSCHITZ,
    problems=SCO_PROBLEMS,
)
_LETTERS = (
    Letter("m", "number of gradient steps"),
    Letter(r"\sigma", "deviation of a step's noise"),
)
_PRIVATE_SGD_RISKS: tuple[Bound, ...] = (
    bound_at_rate(_CARD, _RATE, REMARK_1),
    bound_like(
        _CARD,
        slug="upper.sco.private-sgd-paper",
        name="Private SGD, printed constants",
        statement="Remark 1",
        printing="printed",
        summary="The paper's main result for a target (epsilon, delta), with its constants; "
        "the method with the noise that this statement takes has at most this mean excess "
        "risk.",
        constant="explicit",
        latex=r"\frac{5LD}{\sqrt n}+\frac{160LD\sqrt d\,\ln(3/\delta)}{\varepsilon n}",
        evaluate=name_terms(_NAMES, _NEEDS, _at_budget(remark)),
        hypotheses=REMARK_1,
    ),
    bound_like(
        _CARD,
        slug="upper.sco.private-sgd-theorem",
        name="Private SGD, main theorem",
        statement="Theorem 6, at the parameters that meet the budget",
        printing="printed",
        summary="The main theorem with its parameters solved for the budget, in place of the "
        "rounder ones of Remark 1.",
        constant="explicit",
        latex=r"\frac{5LD}{\sqrt n}+\frac{20LD\sqrt{d\ln(1/\delta_6)}}{\varepsilon_6n},\ "
        r"\delta_6=\tfrac12\big(\delta-2e^{-n/16}\big),\ "
        r"\varepsilon_6=\frac{\varepsilon}{4(\sqrt{\ln(1/\delta_6)}+2)}",
        evaluate=name_terms(_NAMES, _NEEDS, _at_budget(_theorem_terms)),
        hypotheses=(
            *_LOSSES,
            *_BUDGET,
            _condition_on_budget(_check_theorem_delta, "delta > 2 exp(-n/16)"),
            _condition_on_budget(_check_theorem_epsilon, "epsilon_6 <= 1/(2 sqrt(n))"),
        ),
    ),
    bound_like(
        _CARD,
        slug="upper.sco.private-sgd-utility",
        name="Private SGD, utility at sound noise",
        statement="Theorem 4, at the noise of a sound accountant",
        summary="The paper's utility theorem at its own step size. " + _SOUND,
        constant="explicit",
        latex=r"\frac52\,\frac{D(L+\sigma\sqrt d)}{\sqrt n},\ " + _SIGMA,
        privacy="zcdp",
        evaluate=name_terms(_NAMES, _NOISY_NEEDS, _at_noise(utility)),
        hypotheses=_NOISY,
    ),
    bound_like(
        _CARD,
        slug="upper.sco.private-sgd-regret",
        name="Private SGD, regret at sound noise",
        statement="Corollary 1 with Lemma 1, at the noise of a sound accountant",
        summary="The regret that the paper proves, over the number of averaged steps. " + _SOUND,
        constant="explicit",
        latex=r"\frac{2\sqrt n}{\lfloor n/2\rfloor+1}D(L+\sigma\sqrt d),\ " + _SIGMA,
        privacy="zcdp",
        evaluate=name_terms(_NAMES, _NOISY_NEEDS, _at_noise(regret)),
        hypotheses=_NOISY,
    ),
    bound_like(
        _CARD,
        slug="upper.sco.private-sgd-explicit",
        name="Private SGD, proven",
        statement="Theorem 4, sharp form at its best step",
        summary="The mean excess risk with its constants sharpened, from the centre of a ball "
        "of radius D/2 and at the step that makes this bound smallest. " + _SOUND,
        constant="explicit",
        latex=r"\frac{D}{2m}\sqrt{L^2m+\sigma^2d\,EN},\ m=\lfloor n/2\rfloor+1,\ "
        r"EN=n(H_n-H_{n-m}),\ " + _SIGMA,
        privacy="zcdp",
        evaluate=name_terms(("optimisation", *_NAMES), _NOISY_NEEDS, _at_noise(sharp)),
        hypotheses=_NOISY,
    ),
    bound_like(
        _CARD,
        slug="upper.sco.private-sgd-pruned",
        name="Private SGD, proven, without noise-only steps",
        statement="Theorem 4, sharp form, gradient steps only, at their best step",
        summary="The mean excess risk when the steps without a gradient are left out, which "
        "hide nothing in the sound analysis, from the centre of a ball of radius D/2. " + _SOUND,
        constant="explicit",
        latex=r"\frac D2\sqrt{\frac{L^2+\sigma^2d}m},\ m=\lfloor n/2\rfloor+1,\ " + _SIGMA,
        privacy="zcdp",
        evaluate=name_terms(_NAMES, _NOISY_NEEDS, _at_noise(pruned)),
        combine=root_sum_square,
        hypotheses=_NOISY,
    ),
)
PRIVATE_SGD_RISKS = set_letters(_LETTERS, _PRIVATE_SGD_RISKS)

"""Excess risk of private SGD on Lipschitz losses: Arora, Marinov and Ullah (2020)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base import loss_classes as classes
from dpsco_core.base.cards import ARORA_2020, SCO_PROBLEMS, BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, lettered
from dpsco_core.bounds.conditions import GAUSSIAN_BUDGET
from dpsco_core.bounds.euclidean import private_sgd_formulas as sco_private_sgd
from dpsco_core.bounds.euclidean.conditions import DIAMETER, LIPSCHITZ, approximate, named
from dpsco_core.bounds.tools import enough_records, root_sum_square
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting

AtNoise = Callable[[int, int, float, float, float], tuple[float, ...]]
AtBudget = Callable[[int, int, float, float, float, float], tuple[float, ...]]


def _at_noise(formula: AtNoise, distance: float) -> Callable[[Setting], tuple[float, ...]]:
    """Return a formula at the sound noise, with D that many diameters."""

    def terms(setting: Setting) -> tuple[float, ...]:
        c = setting.constants
        noise = sco_private_sgd.sound_noise(setting.n, c.lipschitz, setting.budget)
        return formula(setting.n, setting.d, c.lipschitz, distance * c.diameter, noise)

    return terms


def _at_budget(formula: AtBudget) -> Callable[[Setting], tuple[float, ...]]:
    def terms(setting: Setting) -> tuple[float, ...]:
        c = setting.constants
        budget = setting.budget
        if not isinstance(budget, ApproxDP):
            return math.inf, math.inf
        return formula(setting.n, setting.d, c.lipschitz, c.diameter, budget.epsilon, budget.delta)

    return terms


def _rate(
    n: int, d: int, lipschitz: float, distance: float, epsilon: float, delta: float
) -> tuple[float, float]:
    sampling, private = sco_private_sgd.remark(n, d, lipschitz, distance, epsilon, delta)
    return sampling / 5, private / 160


def _theorem(
    n: int, d: int, lipschitz: float, distance: float, epsilon: float, delta: float
) -> tuple[float, float]:
    own_epsilon, own_delta = sco_private_sgd.theorem_parameters(n, epsilon, delta)
    if math.isnan(own_delta):
        return math.inf, math.inf
    return sco_private_sgd.main_theorem(n, d, lipschitz, distance, own_epsilon, own_delta)


def _remark_delta(setting: Setting) -> str:
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return ""
    low, high = 6 * math.exp(-setting.n / 16), 3 * math.exp(-4)
    if low <= budget.delta <= high:
        return ""
    return (
        f"Remark 1 needs 6 exp(-n/16) = {low:.3g} <= delta <= 3 exp(-4) = {high:.3g}, "
        f"and delta={budget.delta:g} at n={setting.n}."
    )


def _remark_epsilon(setting: Setting) -> str:
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return ""
    largest = 4 * math.sqrt(max(0.0, math.log(3 / budget.delta)) / setting.n)
    if budget.epsilon <= largest:
        return ""
    return (
        f"Theorem 6 covers epsilon <= 4 sqrt(ln(3/delta)/n) = {largest:.3g}, "
        f"and epsilon={budget.epsilon:g}."
    )


def _theorem_delta(setting: Setting) -> str:
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return ""
    least = 2 * math.exp(-setting.n / 16)
    if budget.delta > least:
        return ""
    return (
        f"Theorem 6 needs delta above 2 exp(-n/16) = {least:.3g}, and delta={budget.delta:g} at "
        f"n={setting.n}."
    )


def _theorem_epsilon(setting: Setting) -> str:
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return ""
    own, _ = sco_private_sgd.theorem_parameters(setting.n, budget.epsilon, budget.delta)
    largest = 1 / (2 * math.sqrt(setting.n))
    if math.isnan(own) or own <= largest:
        return ""
    return (
        f"Theorem 6 needs its epsilon at most 1/(2 sqrt(n)) = {largest:.3g}, and the budget's "
        f"epsilon={budget.epsilon:g} makes it {own:.3g}."
    )


_LOSSES = (LIPSCHITZ, DIAMETER)
_SIXTEEN = enough_records("16", lambda setting: 16)
_ANY_EPSILON = approximate(math.inf)
REMARK_1 = (
    *_LOSSES,
    _ANY_EPSILON,
    _SIXTEEN,
    Hypothesis(text="6 exp(-n/16) <= delta <= 3 exp(-4)", check=_remark_delta),
    Hypothesis(text="epsilon <= 4 sqrt(ln(3/delta)/n)", check=_remark_epsilon),
)
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
    latex=r"\frac{LD}{\sqrt n}+\frac{LD\sqrt d\,\ln(3/\delta)}{\varepsilon n}",
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
    Bound(card=_CARD, evaluate=named(_NAMES, _NEEDS, _at_budget(_rate)), hypotheses=REMARK_1),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.private-sgd-paper",
            name="Private SGD, printed constants",
            statement="Remark 1",
            summary="The paper's main result for a target (epsilon, delta), with its constants; "
            "the method with the noise that this statement takes has at most this mean excess "
            "risk.",
            constant="explicit",
            latex=r"\frac{5LD}{\sqrt n}+\frac{160LD\sqrt d\,\ln(3/\delta)}{\varepsilon n}",
        ),
        evaluate=named(_NAMES, _NEEDS, _at_budget(sco_private_sgd.remark)),
        hypotheses=REMARK_1,
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.private-sgd-theorem",
            name="Private SGD, main theorem",
            statement="Theorem 6, at the parameters that meet the budget",
            summary="The main theorem with its parameters solved for the budget, in place of the "
            "rounder ones of Remark 1.",
            constant="explicit",
            latex=r"\frac{5LD}{\sqrt n}+\frac{20LD\sqrt{d\ln(1/\delta_6)}}{\varepsilon_6n},\ "
            r"\delta_6=\tfrac12\big(\delta-2e^{-n/16}\big),\ "
            r"\varepsilon_6=\frac{\varepsilon}{4(\sqrt{\ln(1/\delta_6)}+2)}",
        ),
        evaluate=named(_NAMES, _NEEDS, _at_budget(_theorem)),
        hypotheses=(
            *_LOSSES,
            _ANY_EPSILON,
            _SIXTEEN,
            Hypothesis(text="delta > 2 exp(-n/16)", check=_theorem_delta),
            Hypothesis(text="epsilon_6 <= 1/(2 sqrt(n))", check=_theorem_epsilon),
        ),
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.private-sgd-utility",
            name="Private SGD, utility at sound noise",
            statement="Theorem 4, at the noise of a sound accountant",
            summary="The paper's utility theorem at its own step size. " + _SOUND,
            constant="explicit",
            latex=r"\frac52\,\frac{D(L+\sigma\sqrt d)}{\sqrt n},\ " + _SIGMA,
            privacy="zcdp",
        ),
        evaluate=named(_NAMES, _NOISY_NEEDS, _at_noise(sco_private_sgd.utility, 1.0)),
        hypotheses=(GAUSSIAN_BUDGET, *_LOSSES),
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.private-sgd-regret",
            name="Private SGD, regret at sound noise",
            statement="Corollary 1 with Lemma 1, at the noise of a sound accountant",
            summary="The regret that the paper proves, over the number of averaged steps. "
            + _SOUND,
            constant="explicit",
            latex=r"\frac{2\sqrt n}{\lfloor n/2\rfloor+1}D(L+\sigma\sqrt d),\ " + _SIGMA,
            privacy="zcdp",
        ),
        evaluate=named(_NAMES, _NOISY_NEEDS, _at_noise(sco_private_sgd.regret, 1.0)),
        hypotheses=(GAUSSIAN_BUDGET, *_LOSSES),
    ),
    Bound(
        card=replace(
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
        ),
        evaluate=named(
            ("optimisation", "sampling", "privacy"),
            _NOISY_NEEDS,
            _at_noise(sco_private_sgd.sharp, 0.5),
        ),
        hypotheses=(GAUSSIAN_BUDGET, *_LOSSES),
    ),
    Bound(
        card=replace(
            _CARD,
            slug="upper.sco.private-sgd-pruned",
            name="Private SGD, proven, without noise-only steps",
            statement="Theorem 4, sharp form, gradient steps only, at their best step",
            summary="The mean excess risk when the steps without a gradient are left out, which "
            "hide nothing in the sound analysis, from the centre of a ball of radius D/2. "
            + _SOUND,
            constant="explicit",
            latex=r"\frac D2\sqrt{\frac{L^2+\sigma^2d}m},\ m=\lfloor n/2\rfloor+1,\ " + _SIGMA,
            privacy="zcdp",
        ),
        evaluate=named(_NAMES, _NOISY_NEEDS, _at_noise(sco_private_sgd.pruned, 0.5)),
        combine=root_sum_square,
        hypotheses=(GAUSSIAN_BUDGET, *_LOSSES),
    ),
)
PRIVATE_SGD_RISKS = lettered(_LETTERS, _PRIVATE_SGD_RISKS)

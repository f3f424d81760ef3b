"""Upper bounds of iterative updating: Zhao et al. (2024), Algorithm 3."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base.cards import ZHAO_2024, BoundCard
from dpsco_core.bounds.base import Bound, Hypothesis, Terms, lettered
from dpsco_core.bounds.conditions import (
    DIRECTIONAL_MOMENT,
)
from dpsco_core.bounds.mean import iterative_formulas as upper_iterative
from dpsco_core.bounds.mean import rates
from dpsco_core.bounds.mean.clipped import LETTERS
from dpsco_core.bounds.tools import BETA, DIRECTIONAL_CONDITIONS, KAPPA, enough_records
from dpsco_core.methods.mean.directions import EXACT_DIMENSIONS
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting

_ITERATIVE_NAMES = ("sampling", "clipping bias", "privacy noise")


def _iterative_rate_terms(setting: Setting) -> Terms:
    terms = rates.iterative_rate(
        setting.n, setting.d, setting.moment_order, setting.gaussian_rho, BETA
    )
    moment = setting.constants.directional_moment
    return {name: moment * term for name, term in zip(_ITERATIVE_NAMES, terms, strict=True)}


def _iterative_amplified_terms(setting: Setting) -> Terms:
    moment = setting.constants.directional_moment
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return dict.fromkeys(_ITERATIVE_NAMES, math.inf)
    terms = rates.iterative_amplified_rate(
        setting.n, setting.d, setting.moment_order, budget.epsilon, budget.delta, BETA
    )
    return {name: moment * term for name, term in zip(_ITERATIVE_NAMES, terms, strict=True)}


def _iterative_paper_terms(setting: Setting) -> Terms:
    radius, bias = upper_iterative.printed(
        setting.n,
        setting.d,
        setting.moment_order,
        setting.constants.directional_moment,
        setting.gaussian_rho,
        BETA,
    )
    return {"sampling and privacy noise": radius, "clipping bias": bias}


def _iterative_quantile_terms(setting: Setting) -> Terms:
    radius, bias, _ = upper_iterative.general_quantile(
        setting.n,
        setting.d,
        setting.moment_order,
        setting.constants.directional_moment,
        setting.gaussian_rho,
        BETA,
    )
    return {"sampling and privacy noise": radius, "clipping bias": bias}


def _not_vacuous(evaluate: Callable[[Setting], Terms]) -> Hypothesis:
    def check(setting: Setting) -> str:
        moment = setting.constants.directional_moment
        distance = 4 / 6 * evaluate(setting)["sampling and privacy noise"]
        if math.isinf(distance) or distance < moment:
            return ""
        return (
            f"The bound is vacuous: 4 r_0 = {distance:.3g} is at least M={moment:.3g}, "
            "so that outputting 0 meets it."
        )

    return Hypothesis(text="4 r_0 < M", check=check)


def _solved(setting: Setting) -> str:
    if setting.d <= EXACT_DIMENSIONS:
        return ""
    return (
        "The proof needs the direction of every step to solve the program (27) exactly. The method "
        f"does so for d <= {EXACT_DIMENSIONS}; at d={setting.d} its search is a heuristic."
    )


SOLVED_EXACTLY = Hypothesis(
    text=f"directions that solve (27) exactly: d <= {EXACT_DIMENSIONS}", check=_solved
)


def _amplification(setting: Setting) -> str:
    budget = setting.budget
    if not isinstance(budget, ApproxDP):
        return f"Amplification by shuffling needs an (epsilon, delta) budget, not {budget}."
    groups = upper_iterative.printed_groups(BETA)
    log_delta = math.log(4 / budget.delta)
    largest = 8 * math.exp(2) * math.sqrt(log_delta / groups)
    if budget.epsilon > largest:
        return (
            f"Theorem 6 needs epsilon <= 8e^2 sqrt(ln(4/delta)/k) = {largest:.3g} at k={groups}, "
            f"and epsilon={budget.epsilon:g}."
        )
    least = 16 * math.e * log_delta
    if groups < least:
        return (
            f"Amplification by shuffling needs k >= 16 e ln(4/delta) = {least:.0f} groups, "
            f"and k={groups}."
        )
    return ""


_GROUPS = enough_records("k = 800 ln(1/0.05)", lambda setting: upper_iterative.printed_groups(BETA))
_ITERATIVE_CARD = BoundCard(
    slug="upper.mean.iterative",
    name="Iterative updating, rate",
    paper=ZHAO_2024,
    statement="Theorem 5 in its form (31) at the balancing radius",
    summary="The rate of clipped group means combined by direction and distance; constants, the "
    "number of groups among them, are set to 1.",
    kind="upper",
    constant="rate",
    guarantee="probability 0.95",
    latex=r"M\Big[\sqrt{\frac{d+\ln\frac1\beta}n}+2\sqrt d\,c^{1-1/p}\Big],\ "
    r"c=\frac{\sqrt{d+\ln(1/\beta)}}{n\sqrt\rho}",
    privacy="zcdp",
    method="mean.iterative",
)
_ITERATIVE_BOUNDS: tuple[Bound, ...] = (
    Bound(
        card=_ITERATIVE_CARD,
        evaluate=_iterative_rate_terms,
        hypotheses=(*DIRECTIONAL_CONDITIONS, _GROUPS, SOLVED_EXACTLY),
    ),
    Bound(
        card=replace(
            _ITERATIVE_CARD,
            slug="upper.mean.iterative-amplified",
            name="Iterative updating, rate with amplification",
            statement="Theorem 5, (21), at the balancing radius",
            summary="The theorem's rate under (epsilon, delta)-DP, where the random split hides "
            "which group a record is in; constants set to 1.",
            latex=r"M\Big[\sqrt{\frac{d+\ln\frac1\beta}n}+2\sqrt d\,c^{1-1/p}\Big],\ "
            r"c=\frac{\sqrt{d+\ln(1/\beta)}}{n\varepsilon}\Big(\ln\tfrac1\delta+"
            r"\sqrt{\ln\tfrac1\delta\ln\ln\tfrac1\beta}\Big)",
            privacy="approx",
        ),
        evaluate=_iterative_amplified_terms,
        hypotheses=(
            DIRECTIONAL_MOMENT,
            _GROUPS,
            SOLVED_EXACTLY,
            Hypothesis(
                text="epsilon <= 8e^2 sqrt(ln(4/delta)/k), k >= 16 e ln(4/delta)",
                check=_amplification,
            ),
        ),
    ),
    Bound(
        card=replace(
            _ITERATIVE_CARD,
            slug="upper.mean.iterative-paper",
            name="Iterative updating, printed constants",
            statement="Theorem 5 with Lemmas 6 and 8, (91) and (55), parallel composition",
            summary="What the paper's constants add up to, for an exactly solved inner program "
            "and k = 2397 groups.",
            constant="explicit",
            latex=r"\min_R6r_0+\frac{d^{p/2}M^p}{p-1}R^{1-p},\ r_0=\max\Big\{160M\sqrt{\tfrac dn},"
            r"\tfrac{160\sqrt2R}n\sqrt{\tfrac{kd}\rho},"
            r"40\sqrt{\tfrac{2R^2k^2}{\rho n^2}+\tfrac{M^2k}n}\Big\}",
        ),
        evaluate=_iterative_paper_terms,
        hypotheses=(
            *DIRECTIONAL_CONDITIONS,
            _GROUPS,
            SOLVED_EXACTLY,
            _not_vacuous(_iterative_paper_terms),
        ),
    ),
    Bound(
        card=replace(
            _ITERATIVE_CARD,
            slug="upper.mean.iterative-probability",
            name="Iterative updating, proven at 95 %",
            statement="Theorem 5 at quantile one half, without the split of the failure budget",
            summary="The same proof with its slack removed, for an exactly solved inner program "
            "and the best number of groups from 8 to 120.",
            constant="explicit",
            latex=r"\min_{R,k}6\,\frac{(4\sqrt d+\sqrt k)\sqrt{\frac{M^2}n+\frac{2R^2k}"
            r"{\rho n^2}}}{\frac12-\sqrt{\ln(1/\beta)/(2k)}}+\kappa_pd^{(p-1)/2}M^pR^{1-p},\ "
            + KAPPA,
        ),
        evaluate=_iterative_quantile_terms,
        hypotheses=(
            *DIRECTIONAL_CONDITIONS,
            enough_records("k = 8", lambda setting: 8),
            SOLVED_EXACTLY,
            _not_vacuous(_iterative_quantile_terms),
        ),
    ),
)
ITERATIVE_BOUNDS = lettered(LETTERS, _ITERATIVE_BOUNDS)

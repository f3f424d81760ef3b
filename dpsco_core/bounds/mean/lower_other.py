"""Lower bounds without a spike prior: sampling alone, and the rates of Lemma 6.3."""

import math
from collections.abc import Callable

from dpsco_core.base.cards import KAMATH_2022, OWN, BoundCard
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Terms, bound_like, lettered
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    MEAN_UNRESTRICTED,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.instances import gaussian
from dpsco_core.bounds.mean.lower_priors import D_TWO
from dpsco_core.bounds.mean.rates import mean_rate_cdp, mean_rate_pure
from dpsco_core.problems.base import Setting


def _sampling(value: Callable[[Setting], float]) -> Callable[[Setting], Terms]:
    """Return the one term of a bound for every algorithm from its value in moment units."""

    def terms(setting: Setting) -> Terms:
        scale = moment_scale(setting)
        return {"sampling": scale * value(setting) if 0 < scale < math.inf else 0.0}

    return terms


def _signs(setting: Setting) -> float:
    delta = gaussian.best_separation(setting.n, setting.d, scaled_mean_bound(setting))
    return gaussian.bounded_signs(delta, setting.n, setting.d)


def _rate(rate: Callable[[Setting], tuple[float, float]]) -> Callable[[Setting], Terms]:
    """Return the terms of a rate in moment units, the private one at most sqrt(d)."""

    def terms(setting: Setting) -> Terms:
        scale, (sampling, privacy) = moment_scale(setting), rate(setting)
        if not math.isfinite(scale):
            return {"sampling": 0.0, "privacy": 0.0}
        return {"sampling": scale * sampling, "privacy": scale * min(math.sqrt(setting.d), privacy)}

    return terms


_rate_cdp_terms = _rate(lambda setting: mean_rate_cdp(setting, setting.rho))
_rate_pure_terms = _rate(mean_rate_pure)


def _below_mean_bound(terms: Callable[[Setting], Terms]) -> Hypothesis:
    def check(setting: Setting) -> str:
        rate = math.fsum(terms(setting).values())
        bound = setting.constants.mean_gradient_bound
        if rate <= bound:
            return ""
        return (
            f"The rate {rate:.3g} exceeds R={bound:.4g}, and outputting 0 errs by at most R: "
            "the statement has no bound on the mean."
        )

    return Hypothesis(text="the rate is below R", check=check)


_CARD = BoundCard(
    slug="lower.mean.gaussian",
    name="Gaussian, no privacy",
    paper=KAMATH_2022,
    statement="Lemma 6.3, classical term, exact: N1",
    summary="The exact minimax error for normal laws with p-th moment 1; it binds every algorithm.",
    kind="lower",
    constant="explicit",
    latex=r"\sigma_p\sqrt{\tfrac2n}\,\frac{\Gamma((d+1)/2)}{\Gamma(d/2)},\ "
    r"\sigma_p=(E|Z|^p)^{-1/p}",
    privacy="none",
    drawn=False,
)
_BOUNDS: tuple[Bound, ...] = (
    Bound(
        card=_CARD,
        evaluate=_sampling(lambda s: gaussian.gaussian_minimax(s.n, s.d, s.moment_order)),
        hypotheses=(COORDINATE_MOMENT, MEAN_UNRESTRICTED),
    ),
    bound_like(
        _CARD,
        slug="lower.mean.bounded-signs",
        name="Bounded signs, no privacy",
        statement="Lemma 6.3, classical term, bounded version: N2",
        summary="Coins with a slight bias, one for each coordinate: bounded data, so it holds for "
        "every moment order and binds every algorithm.",
        latex=r"\max_\delta\sqrt d\,\frac{\delta}{1+\delta}\Big(1-\mathrm{TV}\big(\mathrm{Bin}"
        r"(n,\tfrac{1+\delta}2),\mathrm{Bin}(n,\tfrac{1-\delta}2)\big)\Big)",
        drawn=True,
        evaluate=_sampling(_signs),
        hypotheses=(COORDINATE_MOMENT,),
    ),
    bound_like(
        _CARD,
        slug="lower.mean.biased-signs",
        name="Biased signs, no privacy",
        paper=OWN,
        statement="approx-lower-bounds, section 6",
        summary="Signs with hidden biases: no estimate is closer to them than their records allow. "
        "It holds for every moment order, for means within R, and binds every algorithm.",
        latex=r"\max_{r,u}\frac1c\,\frac{2G}{x+\sqrt{x^2+4uG}},\ x=r^2\sqrt{\tfrac{ndu}{1+u}},\ "
        r"G=r^2\bar m\Big(1-\frac v{2\bar m^2}\Big)_+^2,\ \bar m=\frac{du}{1+u}-1,\ "
        r"v=\frac{2du}{(1+u)^2(u+3)},\ c=\max\Big\{\tfrac{r\sqrt d}R,\min\big\{1+r,\big(1+"
        r"\tfrac{(p-3)_+}4r[(1+r)^p-(1-r)^p]\big)^{1/p}\big\}\Big\}",
        drawn=True,
        evaluate=_sampling(
            lambda s: gaussian.biased_signs(s.n, s.d, s.moment_order, scaled_mean_bound(s))
        ),
        hypotheses=(COORDINATE_MOMENT, D_TWO),
    ),
    bound_like(
        _CARD,
        slug="lower.mean.rate-cdp",
        name="CDP lower rate",
        statement="Lemma 6.3",
        summary="The paper's lower rate for concentrated DP, with its hidden constant set to 1.",
        latex=r"\sqrt{\frac dn}+\sqrt d\min\Big(1,\Big(\frac{\sqrt d}{\sqrt\rho\,n}\Big)^{1-1/p}"
        r"\Big)",
        privacy="zcdp",
        constant="rate",
        drawn=True,
        evaluate=_rate_cdp_terms,
        hypotheses=(COORDINATE_MOMENT, _below_mean_bound(_rate_cdp_terms)),
    ),
    bound_like(
        _CARD,
        slug="lower.mean.rate-pure",
        name="Pure-DP lower rate",
        statement="Lemma 6.3 (pure DP)",
        summary="The paper's lower rate for pure DP, with its hidden constant set to 1.",
        latex=r"\sqrt{\frac dn}+\sqrt d\min\Big(1,\Big(\frac{d}{\varepsilon n}\Big)^{1-1/p}\Big)",
        privacy="pure",
        constant="rate",
        drawn=True,
        evaluate=_rate_pure_terms,
        hypotheses=(COORDINATE_MOMENT, _below_mean_bound(_rate_pure_terms)),
    ),
)
OTHER_LOWER_BOUNDS = lettered(letters.SIGNS, _BOUNDS)

"""Lower bounds without a spike prior: sampling alone, and the rates of Lemma 6.3."""

import math
from collections.abc import Callable
from typing import Literal

from dpsco_core.base.cards import KAMATH_2022, OWN, BoundCard, Paper, Privacy
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Hypothesis, Terms, lettered
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    MEAN_UNRESTRICTED,
    moment_scale,
    scaled_mean_bound,
)
from dpsco_core.bounds.instances import gaussian
from dpsco_core.bounds.mean.rates import mean_rate_cdp, mean_rate_pure
from dpsco_core.bounds.mean.tracing import D_TWO
from dpsco_core.problems.base import Setting


def _gaussian_terms(setting: Setting) -> Terms:
    scale = moment_scale(setting)
    if not math.isfinite(scale):
        return {"sampling": 0.0}
    return {
        "sampling": scale * gaussian.gaussian_minimax(setting.n, setting.d, setting.moment_order)
    }


def _signs_terms(setting: Setting) -> Terms:
    scale = moment_scale(setting)
    if not 0 < scale < math.inf:
        return {"sampling": 0.0}
    delta = gaussian.best_separation(setting.n, setting.d, scaled_mean_bound(setting))
    return {"sampling": scale * gaussian.bounded_signs(delta, setting.n, setting.d)}


def _biased_terms(setting: Setting) -> Terms:
    scale = moment_scale(setting)
    if not 0 < scale < math.inf:
        return {"sampling": 0.0}
    n, d, order = setting.n, setting.d, setting.moment_order
    return {"sampling": scale * gaussian.biased_signs(n, d, order, scaled_mean_bound(setting))}


def _rate_cdp_terms(setting: Setting) -> Terms:
    return _scaled(setting, *mean_rate_cdp(setting, setting.rho))


def _rate_pure_terms(setting: Setting) -> Terms:
    return _scaled(setting, *mean_rate_pure(setting))


def _scaled(setting: Setting, sampling: float, privacy: float) -> Terms:
    scale = moment_scale(setting)
    if not math.isfinite(scale):
        return {"sampling": 0.0, "privacy": 0.0}
    return {"sampling": scale * sampling, "privacy": scale * min(math.sqrt(setting.d), privacy)}


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


def _other(
    name: str,
    title: str,
    statement: str,
    summary: str,
    latex: str,
    privacy: Privacy,
    constant: Literal["explicit", "rate"],
    evaluate: Callable[[Setting], Terms],
    hypothesis: Hypothesis | None,
    drawn: bool = True,
    paper: Paper = KAMATH_2022,
) -> Bound:
    card = BoundCard(
        slug=f"lower.mean.{name}",
        name=title,
        paper=paper,
        statement=statement,
        summary=summary,
        kind="lower",
        constant=constant,
        latex=latex,
        privacy=privacy,
        drawn=drawn,
    )
    extra = () if hypothesis is None else (hypothesis,)
    return Bound(card=card, evaluate=evaluate, hypotheses=(COORDINATE_MOMENT, *extra))


_OTHER_LOWER_BOUNDS: tuple[Bound, ...] = (
    _other(
        "gaussian",
        "Gaussian, no privacy",
        "Lemma 6.3, classical term, exact: N1",
        "The exact minimax error for normal laws with p-th moment 1; it binds every algorithm.",
        r"\sigma_p\sqrt{\tfrac2n}\,\frac{\Gamma((d+1)/2)}{\Gamma(d/2)},\ "
        r"\sigma_p=(E|Z|^p)^{-1/p}",
        "none",
        "explicit",
        _gaussian_terms,
        MEAN_UNRESTRICTED,
        drawn=False,
    ),
    _other(
        "bounded-signs",
        "Bounded signs, no privacy",
        "Lemma 6.3, classical term, bounded version: N2",
        "Coins with a slight bias, one for each coordinate: bounded data, so it holds for every "
        "moment order and binds every algorithm.",
        r"\max_\delta\sqrt d\,\frac{\delta}{1+\delta}\Big(1-\mathrm{TV}\big(\mathrm{Bin}"
        r"(n,\tfrac{1+\delta}2),\mathrm{Bin}(n,\tfrac{1-\delta}2)\big)\Big)",
        "none",
        "explicit",
        _signs_terms,
        None,
    ),
    _other(
        "biased-signs",
        "Biased signs, no privacy",
        "approx-lower-bounds, section 6",
        "Signs with hidden biases: no estimate is closer to them than their records allow. It "
        "holds for every moment order, for means within R, and binds every algorithm.",
        r"\max_{r,u}\frac1c\,\frac{2G}{x+\sqrt{x^2+4uG}},\ x=r^2\sqrt{\tfrac{ndu}{1+u}},\ "
        r"G=r^2\bar m\Big(1-\frac v{2\bar m^2}\Big)_+^2,\ \bar m=\frac{du}{1+u}-1,\ "
        r"v=\frac{2du}{(1+u)^2(u+3)},\ c=\max\Big\{\tfrac{r\sqrt d}R,\min\big\{1+r,\big(1+"
        r"\tfrac{(p-3)_+}4r[(1+r)^p-(1-r)^p]\big)^{1/p}\big\}\Big\}",
        "none",
        "explicit",
        _biased_terms,
        D_TWO,
        paper=OWN,
    ),
    _other(
        "rate-cdp",
        "CDP lower rate",
        "Lemma 6.3",
        "The paper's lower rate for concentrated DP, with its hidden constant set to 1.",
        r"\sqrt{\frac dn}+\sqrt d\min\Big(1,\Big(\frac{\sqrt d}{\sqrt\rho\,n}\Big)^{1-1/p}\Big)",
        "zcdp",
        "rate",
        _rate_cdp_terms,
        _below_mean_bound(_rate_cdp_terms),
    ),
    _other(
        "rate-pure",
        "Pure-DP lower rate",
        "Lemma 6.3 (pure DP)",
        "The paper's lower rate for pure DP, with its hidden constant set to 1.",
        r"\sqrt{\frac dn}+\sqrt d\min\Big(1,\Big(\frac{d}{\varepsilon n}\Big)^{1-1/p}\Big)",
        "pure",
        "rate",
        _rate_pure_terms,
        _below_mean_bound(_rate_pure_terms),
    ),
)
OTHER_LOWER_BOUNDS = lettered(letters.SIGNS, _OTHER_LOWER_BOUNDS)

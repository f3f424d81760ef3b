"""Upper bounds of norm clipping: Zhao et al. (2024), Algorithm 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpsco_core.base.cards import KAMATH_SINGHAL_ULLMAN_2020, ZHAO_2024, BoundCard
from dpsco_core.bounds import letters
from dpsco_core.bounds.base import Bound, Letter, Terms, lettered
from dpsco_core.bounds.conditions import (
    COORDINATE_MOMENT,
    GAUSSIAN_BUDGET,
    MEAN_BOUND,
    moment_scale,
)
from dpsco_core.bounds.mean import clipped_formulas as upper_clipped
from dpsco_core.bounds.mean import rates
from dpsco_core.bounds.mean.coordinatewise_formulas import Parts
from dpsco_core.bounds.tools import BETA, DIRECTIONAL_CONDITIONS, KAPPA, root_sum_square, sum_terms
from dpsco_core.problems.base import Setting


def _clipped_rate_terms(setting: Setting) -> Terms:
    terms = rates.clipped_rate(setting.n, setting.d, setting.moment_order, setting.gaussian_rho)
    names = ("sampling", "privacy", "sampling tail")
    moment = setting.constants.directional_moment
    return {name: moment * term for name, term in zip(names, terms, strict=True)}


def _directional_terms(setting: Setting) -> Terms:
    sampling, privacy = rates.directional_rate(
        setting.n, setting.d, setting.moment_order, setting.gaussian_rho
    )
    moment = setting.constants.directional_moment
    return {"sampling": moment * sampling, "privacy": moment * privacy}


def _clipped_probability(
    formula: Callable[[int, int, float, float, float, float], Parts],
) -> Callable[[Setting], Terms]:
    def terms(setting: Setting) -> Terms:
        return sum_terms(
            formula(
                setting.n,
                setting.d,
                setting.moment_order,
                setting.constants.directional_moment,
                setting.gaussian_rho,
                BETA,
            )
        )

    return terms


def _clipped_expected_terms(setting: Setting) -> Terms:
    moment = setting.constants.directional_moment
    bias = upper_clipped.directional_bias(setting.d, setting.moment_order, moment)
    trace = setting.d * moment**2
    return sum_terms(
        upper_clipped.mean_square(setting.n, setting.d, trace, bias, setting.gaussian_rho)
    )


def _clipped_coordinate_terms(setting: Setting) -> Terms:
    scale = moment_scale(setting)
    bias = upper_clipped.coordinate_bias(
        setting.d, setting.moment_order, scale, setting.constants.mean_gradient_bound
    )
    trace = setting.d * scale**2
    return sum_terms(
        upper_clipped.mean_square(setting.n, setting.d, trace, bias, setting.gaussian_rho)
    )


_OTHER_RADIUS = "The method's own tunings take other radii, and may err more."
_CLIPPED_CARD = BoundCard(
    slug="upper.mean.clipped",
    name="Simple clipping, rate",
    paper=ZHAO_2024,
    statement="Theorem 2 at the balancing radius",
    summary="The rate of clipping each record to a ball; constants set to 1.",
    kind="upper",
    constant="rate",
    guarantee="probability 0.95",
    latex=r"M\Big[\sqrt{\frac dn}+\sqrt d\Big(\frac{\sqrt d}{n\sqrt\rho}\Big)^{1-1/p}+"
    r"\frac{d^{3/2-1/p}}{n^{1-1/p}}\Big]",
    privacy="zcdp",
    method="mean.clipped",
)
LETTERS = (
    *letters.CLIPPING,
    letters.SCALE,
    Letter("k", "number of groups"),
    Letter("R_0", "bound on the norm of the mean", lambda s: s.constants.mean_gradient_bound),
)
_CLIPPED_BOUNDS: tuple[Bound, ...] = (
    Bound(
        card=_CLIPPED_CARD,
        evaluate=_clipped_rate_terms,
        hypotheses=DIRECTIONAL_CONDITIONS,
    ),
    Bound(
        card=replace(
            _CLIPPED_CARD,
            slug="upper.mean.clipped-directional",
            name="Directional moments, rate",
            paper=KAMATH_SINGHAL_ULLMAN_2020,
            statement="Rate under directional moments; attained by clipping with the sharp bias",
            summary="The better rate that holds when moments are bounded in every direction, "
            "which simple clipping attains in mean square; constants set to 1.",
            guarantee="expectation",
            latex=r"M\Big[\sqrt{\frac dn}+\Big(\frac d{n\sqrt\rho}\Big)^{1-1/p}\Big]",
        ),
        evaluate=_directional_terms,
        hypotheses=DIRECTIONAL_CONDITIONS,
    ),
    Bound(
        card=replace(
            _CLIPPED_CARD,
            slug="upper.mean.clipped-paper",
            name="Simple clipping, printed constants",
            statement="Theorem 2, (14), at the radius that balances bias, tail and noise",
            summary="The theorem as printed, at the radius of the theory tuning: an error exceeded "
            "in at most 5 of 100 runs.",
            constant="explicit",
            latex=r"\max\Big\{\sqrt{\tfrac{12M^2}n\Lambda},\tfrac{8R}n\Lambda\Big\}+"
            r"\frac{d^{p/2}M^p}{p-1}R^{1-p}+\frac{4R}{n\sqrt\rho}\sqrt\Lambda,\ "
            r"\Lambda=\ln\frac{2\cdot6^d}\beta,\ "
            r"R=\sqrt dM\Big(\frac{4\sqrt\Lambda}{n\sqrt\rho}+\frac{8\Lambda}n\Big)^{-1/p}",
        ),
        evaluate=_clipped_probability(upper_clipped.printed),
        hypotheses=DIRECTIONAL_CONDITIONS,
    ),
    Bound(
        card=replace(
            _CLIPPED_CARD,
            slug="upper.mean.clipped-probability",
            name="Simple clipping, proven at 95 %",
            statement="Theorem 2 with a smaller net, exact noise tail and sharp bias",
            summary="The theorem with its constants sharpened, at the radius that makes this bound "
            "smallest: an error exceeded in at most 5 of 100 runs. " + _OTHER_RADIUS,
            constant="explicit",
            latex=r"\min_R\max\Big\{\sqrt{\tfrac{12M^2}n\Lambda_5},\tfrac{8R}n\Lambda_5\Big\}+"
            r"\kappa_pd^{(p-1)/2}M^pR^{1-p}+\frac{\sqrt2R}{n\sqrt\rho}"
            r"\Big(\sqrt d+\sqrt{2\ln\tfrac2\beta}\Big),\ "
            r"\Lambda_5=\ln\frac{2\cdot5^d}\beta,\ " + KAPPA,
        ),
        evaluate=_clipped_probability(upper_clipped.high_probability),
        hypotheses=DIRECTIONAL_CONDITIONS,
    ),
    Bound(
        card=replace(
            _CLIPPED_CARD,
            slug="upper.mean.clipped-expected",
            name="Simple clipping, proven mean error",
            statement="Theorem 2, second-moment version, directional moments",
            summary="The mean error of simple clipping when moments are bounded in every "
            "direction, with every constant proven, at the radius that makes this bound smallest. "
            + _OTHER_RADIUS,
            constant="explicit",
            guarantee="expectation",
            latex=r"\min_R\Big[\frac{dM^2}n+\big(\kappa_pd^{(p-1)/2}M^pR^{1-p}\big)^2+"
            r"\frac{2dR^2}{\rho n^2}\Big]^{1/2},\ " + KAPPA,
        ),
        evaluate=_clipped_expected_terms,
        combine=root_sum_square,
        hypotheses=DIRECTIONAL_CONDITIONS,
    ),
    Bound(
        card=replace(
            _CLIPPED_CARD,
            slug="upper.mean.clipped-expected-coordinate",
            name="Simple clipping, proven mean error, coordinate moments",
            statement="Theorem 2, second-moment version, coordinate-wise central moments",
            summary="The mean error of simple clipping over the lower bounds' own class, with "
            "every constant proven, at the radius that makes this bound smallest. " + _OTHER_RADIUS,
            constant="explicit",
            guarantee="expectation",
            latex=r"\min_R\Big[\frac{dg^2}n+\big(\kappa_p(\sqrt dg+R_0)^pR^{1-p}\big)^2+"
            r"\frac{2dR^2}{\rho n^2}\Big]^{1/2},\ " + KAPPA,
        ),
        evaluate=_clipped_coordinate_terms,
        combine=root_sum_square,
        hypotheses=(GAUSSIAN_BUDGET, COORDINATE_MOMENT, MEAN_BOUND),
    ),
)
CLIPPED_BOUNDS = lettered(LETTERS, _CLIPPED_BOUNDS)

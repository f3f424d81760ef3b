"""The forms of the private lower bounds on a mean, and the proofs that end in them.

From the paper's own constants to the sharpest: each form at the spike probability that makes it
largest, which is its value in the catalogue's row of that name, where it has one.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpsco_core.bounds.instances import distance, hypercube, spikes, two_sided
from dpsco_core.bounds.instances import rate_distortion as distortion
from dpsco_core.bounds.instances.binomial import maximise
from dpsco_core.bounds.instances.prior import approximate_level
from dpsco_core.explain.fano.instance import Class, MeanInstance, best_packing, curves, packing_at

Source = Literal["paper", "optimised", "hypercube"]
# A form of the bound: its key, the slug of its catalogue row after "lower.mean." ("" without one),
# the source of its constants, its spike probability, and its value as a function.
Form = tuple[str, str, Source, float, Callable[..., float]]


@dataclass(frozen=True, kw_only=True)
class Rung:
    """One form of the lower bound."""

    key: str
    # the bound of the catalogue that has this value at these settings; "" without one
    slug: str
    binds: Class
    # the source of the constants: the paper, the best ones for the paper's instance, or a sharper
    # instance
    source: Source
    q: float  # the spike probability of the bound
    value: float  # the value of the bound, 0 where the form proves nothing


def literal_probability(instance: MeanInstance, binds: Class) -> float:
    r"""Return the paper's spike probability with constant 1, within R.

    :math:`\min(1,\sqrt d/(n\sqrt\rho))` or :math:`\min(1,d/(n\varepsilon))` (Kamath et al. 2022,
    proof of Lemma 6.3).
    """
    s = instance.scenario
    count = math.sqrt(s.d / instance.rho) if binds == "zcdp" else s.d / instance.epsilon
    return min(1.0, instance.largest("spike"), count / s.n)


def ladder(instance: MeanInstance) -> tuple[Rung, ...]:
    """Return the forms of the bound, from the paper's own constants to the sharpest."""
    s = instance.scenario
    n, d, order, rho, epsilon = s.n, s.d, s.p, instance.rho, instance.epsilon
    code, cube = instance.largest("spike"), instance.largest("hypercube")
    level, implied = approximate_level(instance.setting), (epsilon, 0.0)

    def conditioned(grid: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the bound of `spike_conditioned_cdp` at every spike probability of a grid."""
        return np.array([spikes.spike_conditioned_cdp(float(q), n, d, order, rho) for q in grid])

    plain = spikes.best_cdp(n, d, order, rho, code)
    conditioned_q = maximise(conditioned, plain / 4, min(code, 4 * plain), points=17)
    conditioned_q = max(
        (conditioned_q, plain), key=lambda q: spikes.spike_conditioned_cdp(q, n, d, order, rho)
    )
    cdp, dp = (n, d, order, rho), (n, d, order, epsilon)
    gilbert, closed = spikes.best_cdp_gilbert(*cdp, code), hypercube.best_cdp_closed(*cdp, cube)
    signs, distorted = hypercube.best_cdp(*cdp, cube), distortion.best(*cdp, cube)
    concentrated: tuple[Form, ...] = (
        ("literal-cdp", "", "paper", literal_probability(instance, "zcdp"), spikes.spike_fano_cdp),
        ("closed-cdp", "", "paper", _closed_probability(instance), _closed_value),
        ("fano-cdp", "fano-cdp", "optimised", plain, spikes.spike_fano_cdp),
        ("given-cdp", "", "optimised", conditioned_q, spikes.spike_conditioned_cdp),
        (
            "gilbert-cdp",
            "fano-cdp-gilbert",
            "optimised",
            gilbert,
            spikes.spike_fano_cdp_gilbert,
        ),
        (
            "closed-hypercube-cdp",
            "hypercube-cdp-closed",
            "hypercube",
            closed,
            hypercube.hypercube_cdp_closed,
        ),
        ("hypercube-cdp", "hypercube-cdp", "hypercube", signs, hypercube.hypercube_cdp),
        (
            "rate-distortion-cdp",
            "rate-distortion-cdp",
            "hypercube",
            distorted,
            distortion.distortion,
        ),
    )
    concentrated += _distance_forms((n, d, order, rho), cube)
    markov, best = spikes.best_markov_pure(*dp, code), spikes.best_pure(*dp, code)
    corners, patterns = hypercube.best_pure(*dp, cube), best_packing(n, d, order, implied, cube)
    # The bound for every (epsilon, delta) algorithm does not bind epsilon under zCDP.
    row = "approx-packing" if level is not None and level[1] == 0 else ""
    pure: tuple[Form, ...] = (
        (
            "literal-pure",
            "",
            "paper",
            literal_probability(instance, "pure"),
            spikes.spike_markov_pure,
        ),
        ("markov-pure", "fano-pure-markov", "optimised", markov, spikes.spike_markov_pure),
        ("fano-pure", "fano-pure", "optimised", best, spikes.spike_pure),
        ("hypercube-pure", "hypercube-pure", "hypercube", corners, hypercube.hypercube_pure),
        ("packing-pure", row, "hypercube", patterns, _pure_packing),
    )
    kinds: list[tuple[Class, tuple[Form, ...], float | tuple[float, float]]] = [
        ("zcdp", concentrated, rho),
        ("pure", pure, epsilon),
    ]
    if level is not None and level[1] > 0:
        q = best_packing(n, d, order, level, cube)
        approximate: Form = ("packing-approx", "approx-packing", "hypercube", q, packing_at)
        kinds.append(("approx", (approximate,), level))
    return tuple(
        Rung(
            key=key,
            slug=slug and f"lower.mean.{slug}",
            binds=binds,
            source=source,
            q=q,
            value=form(q, n, d, order, strength),
        )
        for binds, rows, strength in kinds
        for key, slug, source, q, form in rows
    )


def best_forms(instance: MeanInstance) -> tuple[Rung, ...]:
    """Return the bounds at their own best spike probabilities, the largest one first.

    They are those of the curves over the spike probability, and every form without a row of the
    catalogue that is larger than all curves on its class: packings under pure DP, where the budget
    is zCDP or has a delta.
    """
    drawn = [
        Rung(
            key=c.slug,
            slug=f"lower.mean.{c.slug}",
            binds=c.binds,
            source="hypercube" if c.hard == "hypercube" else "optimised",
            q=c.best_q,
            value=c.best,
        )
        for c in curves(instance)
    ]
    top = {r.binds: max(b.value for b in drawn if b.binds == r.binds) for r in drawn}
    added = [r for r in ladder(instance) if not r.slug and r.value > top.get(r.binds, 0.0)]
    return tuple(sorted([*drawn, *added], key=lambda rung: -rung.value))


def _distance_forms(cdp: tuple[int, int, float, float], cube: float) -> tuple[Form, ...]:
    """Return Fano's forms on all sign patterns: at a single distance, at all, and two-sided.

    `cdp` is (n, d, moment order, rho), and `cube` the largest spike probability.
    """
    kinds: tuple[tuple[str, str, distance.Chance], ...] = (
        ("distances-fano-cdp", "", "fano"),
        ("distances-both-ways-cdp", "", "both ways"),
        ("fano-distance-cdp", "fano-distance-cdp", "all orders"),
    )
    best_one, best_both = distance.best_one(*cdp, cube), two_sided.best(*cdp, cube)
    return (
        ("one-distance-cdp", "", "hypercube", best_one, distance.one_distance),
        *(
            (
                key,
                slug,
                "hypercube",
                distance.best(*cdp, cube, kind=kind),
                partial(distance.fano_distance, kind=kind),
            )
            for key, slug, kind in kinds
        ),
        ("two-sided-cdp", "two-sided-cdp", "hypercube", best_both, two_sided.two_sided),
    )


def _pure_packing(q: float, n: int, d: int, order: float, epsilon: float) -> float:
    """Return the packing bound on the l2 error of epsilon-DP algorithms at spike probability q."""
    return packing_at(q, n, d, order, (epsilon, 0.0))


def _closed_probability(instance: MeanInstance) -> float:
    """Return the spike probability at which Fano's factor is 1/2 in the paper's argument.

    The means stay within R.
    """
    s = instance.scenario
    value = spikes.spike_closed_form_cdp(s.n, s.d, s.p, instance.rho)
    if value == 0:
        return min(instance.largest("spike"), 1 / s.n)
    theta = 4 * value / math.sqrt(s.d / 8)
    return min(instance.largest("spike"), math.pow(theta, 1 / spikes.spike_exponent(s.p)))


def _closed_value(q: float, n: int, d: int, order: float, rho: float) -> float:
    """Return the closed form of the bound at q, at which at least half of Fano's factor is left."""
    if spikes.spike_closed_form_cdp(n, d, order, rho) == 0:
        return 0.0
    return spikes.mean_scale(q, order) / 4 * math.sqrt(d / 8)


Numbers = dict[str, float | str]
_PACKED = ("squared_changes", "information", "error", "bound")
_BY_DISTANCE = ("typical", "told", "radius", "share", "hit", "farthest", "nearest", "bound")


def proofs(instance: MeanInstance) -> dict[str, Numbers]:
    """Return the numbers of each proof on the instance, by the name of the proof.

    Each proof is evaluated at the spike probability q of the form in which it ends, and its last
    number, `bound`, is the value of that form. The proofs for zCDP and for pure DP have other q,
    and so share no number that depends on q. On all sign patterns the proof for zCDP is Fano's by
    distance, and under pure and approximate budgets there is a third proof, by expectiles.
    """
    forms = {rung.key: rung for rung in ladder(instance)}
    head = "fano" if instance.scenario.distribution == "spike" else "hypercube"
    concentrated = forms["fano-cdp" if head == "fano" else "fano-distance-cdp"]
    pure = forms[f"{head}-pure"]
    pure_proof = instance.proof(pure.q)
    counts = ("q", "theta", "mean_norm", "log_size", "expected_changes")
    endings = {
        "proof": _numbers_of_proof(
            concentrated, instance.proof(concentrated.q), (*counts, *_PACKED)
        )
        if head == "fano"
        else _numbers_of_proof(
            concentrated, instance.by_distance(concentrated.q), (*counts, *_BY_DISTANCE)
        ),
        "pure_proof": _numbers_of_proof(pure, pure_proof, counts)
        | {"error": pure_proof.pure_error, "bound": pure_proof.pure_bound},
    }
    approx_form = forms.get("packing-approx", forms["packing-pure"])
    expectiles = instance.expectiles(approx_form.q)
    if head == "hypercube" and expectiles is not None:
        names = ("typical", "log_likelihood_ratio", "failure", "farthest", "nearest", "bound")
        endings["expectile_proof"] = _numbers_of_proof(approx_form, expectiles, (*counts, *names))
    return endings


def _numbers_of_proof(form: Rung, proof: object, names: tuple[str, ...]) -> Numbers:
    """Return the named numbers of a proof, with the key of its form."""
    return {"form": form.key} | {name: getattr(proof, name) for name in names}

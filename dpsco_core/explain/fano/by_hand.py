r"""The smallest packing proof, played by hand: four candidates, seven records that tell them apart.

Nature picks one of the :math:`2^d` sign patterns :math:`\nu`. Of n records exactly B show the
spike :math:`q^{-1/p}\nu`, the others are 0; whoever changes the pattern changes these B records
only. Group privacy lets a rho-zCDP output tell at most :math:`\rho B^2` nats about it, and
`dpsco_core.bounds.instances.distance.chance` turns this into the largest chance of naming it
(theory/bounds-everywhere.md, 4). Here the number of spikes is fixed, so no mean over it is taken.
"""

import math

import numpy as np

from dpsco_core.base.arrays import Vector
from dpsco_core.base.errors import require
from dpsco_core.bounds.instances.distance import chance
from dpsco_core.explain.fano.builder import DistanceProof
from dpsco_core.privacy.budget import ZCDP
from dpsco_core.privacy.ledger import Ledger
from dpsco_core.privacy.mechanisms import GaussianNoise

RECORDS, SPIKES, SIGNS, ORDER = 1000, 7, 2, 2.0
RHO = 0.01
# The four candidates, each with the place of its mean in the plane.
CANDIDATES: dict[str, tuple[int, int]] = {
    "upper-left": (-1, 1),
    "upper-right": (1, 1),
    "lower-left": (-1, -1),
    "lower-right": (1, -1),
}
ROUNDS = 25  # the number of rounds of one trial
# the name of the series of the share of hits; a round is in the series of its secret candidate
SHARE = "named"


def proof(d: int = SIGNS) -> DistanceProof:
    """Return the numbers of Fano's proof by distance with d signs, at the
    spikes of this example.
    """
    return DistanceProof(
        n=RECORDS, d=d, order=ORDER, q=SPIKES / RECORDS, rho=RHO, epsilon=math.sqrt(2 * RHO)
    )


def naming_chance(d: int = SIGNS) -> float:
    r"""Return the largest chance that any rho-zCDP algorithm names the pattern of d signs.

    It is between :math:`2^{-d}`, the chance of a blind guess, and 1. `d`: at least 1.
    """
    require(d >= 1, "d", "at least 1", d)
    log_words = d * math.log(2)
    return float(chance(np.array(proof(d).told), np.array(-log_words), log_words=log_words))


def mean_of(pattern: Vector) -> Vector:
    """Return the average of all records if the secret sign pattern is `pattern`, shape (d,)."""
    return SPIKES / RECORDS * proof(len(pattern)).spike_size * pattern


def publish(pattern: Vector, rng: np.random.Generator) -> Vector:
    """Return the average with the noise of rho-zCDP, shape (d,): a record is at most a spike long.

    `pattern`: the signs, shape (d,).
    """
    spike = proof(len(pattern)).spike_size * math.sqrt(len(pattern))
    noise = GaussianNoise(l2_sensitivity=2 * spike / RECORDS, rho=RHO)
    return Ledger(ZCDP(rho=RHO)).release(noise, mean_of(pattern), rng)


def nearest(x: float, y: float) -> str:
    """Return the candidate nearest to a published point: for Gaussian noise, the likeliest one."""
    return f"{'upper' if y > 0 else 'lower'}-{'right' if x > 0 else 'left'}"


def play(rng: np.random.Generator) -> list[tuple[str, float, float]]:
    """Play rounds: draw a secret candidate, publish its data, and name the nearest candidate.

    Returns two rows (series, x, value). The first is the first round: its secret candidate, and the
    published point of the plane. The second is `SHARE`: the number of rounds, and the share of
    hits, in which the nearest candidate is the secret one.
    """
    slugs = list(CANDIDATES)
    secrets = [slugs[i] for i in rng.integers(0, len(slugs), size=ROUNDS)]
    points = [publish(np.array(CANDIDATES[s], dtype=np.float64), rng).tolist() for s in secrets]
    hits = sum(nearest(*point) == secret for secret, point in zip(secrets, points, strict=True))
    x, y = points[0]
    return [(secrets[0], x, y), (SHARE, ROUNDS, hits / ROUNDS)]

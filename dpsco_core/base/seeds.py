"""Seeds: where fresh ones come from, and what a known one costs in privacy.

A study draws data and noise from its one seed, so that anybody can repeat its numbers. Whoever can
repeat the noise can also subtract it.
"""

import secrets

FRESH = "fresh"  # in place of a number, in a file, a link or on the command line
COST = (
    "whoever knows the seed can subtract the noise: a seeded result is for study, never for "
    "publication of real data"
)
SAME = (
    "The same scenario gives the same numbers: to the last bit on one machine with one linear\n"
    "algebra library. On another machine the last digits may differ."
)


def fresh_seed() -> int:
    """Return a seed from the entropy of the operating system, from 0 to 2**53 - 1.

    For studies, which write it into their results: larger integers do not survive every reader of
    JSON. A release of real data keeps no seed: ``numpy.random.default_rng()``.

    Examples
    --------
    >>> 0 <= fresh_seed() < 2**53
    True
    """
    return secrets.randbelow(2**53)

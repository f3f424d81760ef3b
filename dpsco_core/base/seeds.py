"""Seeds: how fresh ones are drawn, and what a known one costs in privacy.

A study draws data and noise from one seed, so that anyone can repeat its numbers. Anyone who can
repeat the noise can also subtract it.
"""

import secrets

FRESH = "fresh"  # In a file, a link or a command this word stands for a new seed.
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

    It is for studies, which record it in their results: not every JSON reader preserves larger
    integers. A release of real data keeps no seed: ``numpy.random.default_rng()``.

    Examples
    --------
    >>> 0 <= fresh_seed() < 2**53
    True
    """
    return secrets.randbelow(2**53)

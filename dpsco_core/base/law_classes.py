"""The classes of laws that statements are about: for which records a bound holds.

An upper bound holds for every law of its class, and a lower one is a worst case over its class.
They meet only where the law on which the lower one binds is in the class of the upper one: a bound
for laws with the moments that this law has in every direction may well be below what the hardest
law with bounded moments in every coordinate makes anybody err. `dpsco_core.bounds.classes` says
which class holds which at a setting.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class LawClass:
    """A class of laws of the records.

    Examples
    --------
    >>> str(COORDINATE), SHIFTS.words
    ('coordinate moments', 'these data, wherever their mean is')
    """

    name: str  # in a table
    words: str  # in a sentence, after "for" or "over"
    # in a figure: after "for", where an upper bound holds for this class; and what a lower bound
    # over it is
    short: str
    worst: str
    # the `Constants` of the records that say which laws are in it; empty where one law does
    constants: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name


# Central moments of every coordinate, and the norm of the mean: that of Kamath et al. (2022), and
# of the hard instances.
COORDINATE = LawClass(
    name="coordinate moments",
    words="all distributions with these moments in every coordinate",
    short="these coordinate moments",
    worst="Worst case",
    constants=("coordinate_moment", "mean_gradient_bound"),
)
# Raw moments in every direction, as large as this law's (Zhao et al. 2024, Assumption 1(c)).
DIRECTIONAL = LawClass(
    name="directional moments",
    words="all distributions with these moments in every direction",
    short="these directional moments",
    worst="Worst case, moments in every direction",
    constants=("directional_moment", "mean_gradient_bound"),
)
# Second moments as large as this law's: the least of those that its constants certify.
VARIANCE = LawClass(
    name="variance",
    words="all distributions with this variance",
    short="this variance",
    worst="Worst case, this variance",
    constants=(
        "variance_trace",
        "minimum_variance",
        "mean_gradient_bound",
        "coordinate_moment",
        "lipschitz",
    ),
)
# Lipschitz losses: gradients of every record within L.
BOUNDED = LawClass(
    name="bounded gradients",
    words="all data with gradients of at most this norm",
    short="gradients within L",
    worst="Worst case, bounded gradients",
    constants=("lipschitz",),
)
# Lipschitz constants of the records' losses on the set: second and p-th moments up to what is
# proven of this law's, which need not be sharp (Asi, Liu and Tian 2024).
LIPSCHITZ_MOMENTS = LawClass(
    name="Lipschitz moments",
    words="all data whose losses have Lipschitz constants with moments up to these",
    short="these Lipschitz moments",
    worst="Worst case, Lipschitz moments",
    constants=("lipschitz_second", "lipschitz_moment"),
)
# Known but for its mean: anywhere no longer than that of the data, or within the public bound if 0.
SHIFTS = LawClass(
    name="shifts of this law",
    words="these data, wherever their mean is",
    short="these data",
    worst="These data",
)
# Within a factor of this law, which an algorithm does not know exactly.
NEAR = LawClass(
    name="laws near this one",
    words="all distributions near that of these data",
    short="data near these",
    worst="Data near these",
)

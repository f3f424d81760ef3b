"""The classes of laws of the records for which bounds hold.

An upper bound holds for every law of its class, and a lower bound is a worst case over its class.
They are comparable only if the upper bound's class contains the law on which the lower one binds: a
bound for laws with this law's moments in every direction may well be below the error that the
hardest law with bounded coordinate moments forces. `dpsco_core.bounds.classes` says which class
contains which at a setting.
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

    name: str  # the name of the class in a table
    words: str  # the class in a sentence, after "for" or "over"
    # The class in a figure. It follows "for" if an upper bound holds for this class, and stands
    # alone as the name of a lower bound over it.
    short: str
    worst: str  # the beginning of the name of a lower bound over the class, in a figure
    # the names of the `Constants` of the records that define the class; empty if the class is a
    # single law or its vicinity
    constants: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the name of the class."""
        return self.name


# Laws with bounded central moments of every coordinate and a bounded norm of the mean, as in Kamath
# et al. (2022) and on the hard instances.
COORDINATE = LawClass(
    name="coordinate moments",
    words="all distributions with these moments in every coordinate",
    short="these coordinate moments",
    worst="Worst case",
    constants=("coordinate_moment", "mean_gradient_bound"),
)
# Laws whose raw moments in every direction are at most those of the scenario's law (Zhao et al.
# 2024, Assumption 1(c)).
DIRECTIONAL = LawClass(
    name="directional moments",
    words="all distributions with these moments in every direction",
    short="these directional moments",
    worst="Worst case, moments in every direction",
    constants=("directional_moment", "mean_gradient_bound"),
)
# Laws whose second moments are at most those of the scenario's law. This is the smallest class that
# the constants certify.
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
# Laws for which the gradient of every record has norm at most L.
BOUNDED = LawClass(
    name="bounded gradients",
    words="all data with gradients of at most this norm",
    short="gradients within L",
    worst="Worst case, bounded gradients",
    constants=("lipschitz",),
)
# Laws for which the Lipschitz constants of the records' losses have second and p-th moments up to
# bounds that are proven for the scenario's law and need not be sharp (Asi, Liu and Tian 2024).
LIPSCHITZ_MOMENTS = LawClass(
    name="Lipschitz moments",
    words="all data whose losses have Lipschitz constants with moments up to these",
    short="these Lipschitz moments",
    worst="Worst case, Lipschitz moments",
    constants=("lipschitz_second", "lipschitz_moment"),
)
# The scenario's law shifted to any mean whose norm is at most that of the data's mean, or at most
# the public bound if that norm is 0.
SHIFTS = LawClass(
    name="shifts of this law",
    words="these data, wherever their mean is",
    short="these data",
    worst="These data",
)
# Laws within a factor of the scenario's law, which an algorithm does not know exactly.
NEARBY_SLOPES = LawClass(
    name="laws near this one",
    words="all distributions near that of these data",
    short="data near these",
    worst="Data near these",
)

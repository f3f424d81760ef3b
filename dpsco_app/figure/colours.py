"""The meaning of every colour, the same on every page and in both themes.

Red marks only what no private algorithm can reach, and slate what is proven possible. The parts of
an error are grey (sampling), orange (clipping bias) and blue (privacy noise). The hues of methods,
in `METHODS`, differ from these colours and from one another for people with any of the three common
colour deficiencies; beyond seven methods, marks and dashes tell them apart.
"""

from dataclasses import dataclass

Pair = tuple[str, str]  # A colour for the light theme and one for the dark theme.

INK: Pair = ("#1c1d1f", "#ededea")
QUIET: Pair = ("#55595f", "#b9bcbf")
FAINT: Pair = ("#8a8e94", "#85888c")
PAGE: Pair = ("#ffffff", "#191916")
GRID: Pair = ("rgba(0,0,0,.08)", "rgba(255,255,255,.10)")
PALE: Pair = ("#d5d5cf", "#4a4a46")  # The colour of map cells in which no method wins.
ACCENT: Pair = ("#0b57d0", "#8ab4f8")  # The colour of controls.
# The opacity of a figure and its table whose settings have changed since they were computed.
FADED = 0.4


@dataclass(frozen=True, kw_only=True)
class Area:
    """A kind of region in a figure: the colours of its fill, its edge and its label."""

    fill: Pair
    edge: Pair
    ink: Pair


# The region that no private algorithm reaches.
IMPOSSIBLE = Area(
    fill=("#fcf0ed", "#2c201d"), edge=("#b3261e", "#f4564a"), ink=("#8f1d17", "#ff8a80")
)
# The colours of the referee's verdicts, by how serious each verdict is.
TONES: dict[str, Pair] = {
    "bad": IMPOSSIBLE.ink,
    "warn": ("#8a5a00", "#e3b341"),
    "soft": QUIET,
    "calm": ("#1f6f43", "#6fdd9b"),
}
# The region between the proven upper bounds and the proven lower bounds for heavy-tailed data.
WINDOW = Area(fill=("#e9eef6", "#222b37"), edge=("#5c7391", "#8ea8c9"), ink=("#3f556f", "#b4c6de"))

# The parts of an error, in the order in which they are stacked. The optimisation error, which
# remains even with infinitely many records, comes first and exists only for optimisers.
OPTIMISATION: Pair = ("#3d4147", "#d6d8da")
SAMPLING: Pair = ("#8a8e94", "#9a9ea3")
BIAS: Pair = ("#d95f02", "#ff9a4d")
NOISE: Pair = ("#1f78d1", "#6cb6ff")
# Text about a part of an error needs more contrast than its line and has these colours.
PART_INKS: dict[Pair, Pair] = {
    SAMPLING: QUIET,
    BIAS: ("#b04d00", "#ff9a4d"),
    NOISE: ("#1a68b6", "#6cb6ff"),
}

METHODS: dict[str, Pair] = {
    "violet": ("#421fc4", "#b07cff"),
    "gold": ("#8f5d00", "#ffd84d"),
    "teal": ("#0d5d70", "#72e4fb"),
    "green": ("#2f7f4f", "#59b55f"),
    "magenta": ("#bb44b2", "#e56ac6"),
    "brown": ("#4a2508", "#a87a3c"),
    "grey": ("#6a6f76", "#aeb2b7"),  # Grey is the hue of methods without privacy.
}


def translucent(colour: str, alpha: float) -> str:
    """Return a six-digit hexadecimal colour with an opacity."""
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},{alpha:g})"

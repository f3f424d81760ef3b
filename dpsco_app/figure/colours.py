"""The one code of colours: what each means, on every page, in both themes.

Red is what cannot be reached and nothing else. Slate is what is proven possible. An error is taken
apart into grey (sampling), orange (clipping bias) and blue (privacy noise). Methods have the hues
of `METHODS`, which keep clear of these and are told apart by people with any of the three common
colour deficiencies; beyond seven, marks and dashes tell methods apart.
"""

from dataclasses import dataclass

Pair = tuple[str, str]  # (light theme, dark theme)

INK: Pair = ("#1c1d1f", "#ededea")
QUIET: Pair = ("#55595f", "#b9bcbf")
FAINT: Pair = ("#8a8e94", "#85888c")
PAGE: Pair = ("#ffffff", "#191916")
GRID: Pair = ("rgba(0,0,0,.08)", "rgba(255,255,255,.10)")
PALE: Pair = ("#d5d5cf", "#4a4a46")  # cells of a map that show nobody
ACCENT: Pair = ("#0b57d0", "#8ab4f8")  # the colour of controls
FADED = 0.4  # opacity of a figure and its table, of settings that have changed


@dataclass(frozen=True, kw_only=True)
class Area:
    """A region of a figure: what it is filled with, its edge, and the words about it."""

    fill: Pair
    edge: Pair
    ink: Pair


# No private algorithm reaches it.
IMPOSSIBLE = Area(
    fill=("#fcf0ed", "#2c201d"), edge=("#b3261e", "#f4564a"), ink=("#8f1d17", "#ff8a80")
)
# Verdicts of the referee, by how grave they are.
TONES: dict[str, Pair] = {
    "bad": IMPOSSIBLE.ink,
    "warn": ("#8a5a00", "#e3b341"),
    "soft": QUIET,
    "calm": ("#1f6f43", "#6fdd9b"),
}
# Between what is proven possible and what is proven impossible for all data with a tail.
WINDOW = Area(fill=("#e9eef6", "#222b37"), edge=("#5c7391", "#8ea8c9"), ink=("#3f556f", "#b4c6de"))

# The parts of an error, in the order in which they are stacked. What an optimiser's steps leave on
# endless data comes first, and only for optimisers.
OPTIMISATION: Pair = ("#3d4147", "#d6d8da")
SAMPLING: Pair = ("#8a8e94", "#9a9ea3")
BIAS: Pair = ("#d95f02", "#ff9a4d")
NOISE: Pair = ("#1f78d1", "#6cb6ff")
# What text about a part has instead, which needs more contrast than a line.
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
    "grey": ("#6a6f76", "#aeb2b7"),  # without privacy
}


def translucent(colour: str, alpha: float) -> str:
    """Return a colour of six digits with an opacity."""
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},{alpha:g})"

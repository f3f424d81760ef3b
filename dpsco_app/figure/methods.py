"""How a method's line looks in every figure: its hue, its mark, and whether it is dashed."""

from collections import Counter
from collections.abc import Sequence

from dpsco_app.figure.colours import METHODS, Pair
from dpsco_core import catalogue

MARKS = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "pentagon",
    "star",
    "hexagon",
    "cross",
    "triangle-down",
    "hourglass",
    "bowtie",
    "star-diamond",
)
# The marks of methods as characters of a font, for chips and texts.
SIGNS = {
    "circle": "●",
    "circle-open": "○",
    "square": "■",
    "square-open": "□",
    "diamond": "◆",
    "diamond-open": "◇",
    "triangle-up": "▲",
    "triangle-down": "▼",
    "pentagon": "⬟",
    "pentagon-open": "⬠",
    "star": "★",
    "hexagon": "⬢",
    "hexagon-open": "⬡",
    "cross": "✚",
    "cross-open": "✛",
    "hourglass": "⊠",
    "bowtie": "⋈",
    "star-diamond": "✦",
    "hexagram": "✶",
}


def colour_of(method: str) -> Pair:
    """Return the hue that a method declares, or an unused hue if it declares none."""
    if catalogue.method_card(method).privacy == "none":
        return METHODS["grey"]
    return METHODS[_declared_or_free(method, "colour", [hue for hue in METHODS if hue != "grey"])]


def symbol_of(method: str) -> str:
    """Return Plotly's name of a method's mark; methods without privacy have open marks."""
    symbol = _declared_or_free(method, "symbol", MARKS)
    is_public = catalogue.method_card(method).privacy == "none"
    return f"{symbol}-open" if is_public and not symbol.endswith("-open") else symbol


def is_dashed(method: str) -> bool:
    """Whether a method's line is dashed, which sets two methods of one hue apart."""
    return bool(catalogue.method_class(method).dashed)


def short_names(methods: Sequence[str]) -> dict[str, str]:
    """Return the names of methods, cut at the first comma where the short names stay different.

    Examples
    --------
    >>> short_names(("mean.clipped", "mean.cwme-cdp"))["mean.cwme-cdp"]
    'Coordinate-wise'
    """
    whole = {m: catalogue.method_card(m).name for m in methods}
    short = {m: catalogue.method_card(m).short or name.split(",")[0] for m, name in whole.items()}
    counts = Counter(short.values())
    return {m: short[m] if counts[short[m]] == 1 else name for m, name in whole.items()}


def _declared_or_free(method: str, name: str, choices: Sequence[str]) -> str:
    """Return the choice that a method declares in its attribute `name`, or else a free one.

    A choice is free if no rival declares it; rivals are the methods that may share a figure.
    """
    declared = getattr(catalogue.method_class(method), name)
    if declared in choices:
        return str(declared)
    card = catalogue.method_card(method)
    rivals = [
        rival
        for rival in catalogue.METHODS
        if set(rival.card.problems) & set(card.problems) and rival.card.geometry == card.geometry
    ]
    taken_choices = {getattr(rival, name) for rival in rivals}
    nameless = [m.card.slug for m in rivals if getattr(m, name) not in choices]
    free = [choice for choice in choices if choice not in taken_choices] or list(choices)
    return free[nameless.index(method) % len(free)]

r"""Lower bounds for the geometric median off the l2 ball: far points at hidden words.

With probability s a point is :math:`KV/\|V\|`, V a hidden word of the bounds on linear losses, and
otherwise :math:`\pm Ku` with a fair sign. Up to :math:`\frac{D^2}{2(K-D)}`, D the largest norm in
the set, the excess risk is that of the linear loss, times :math:`s/\|V\|`. So every lower bound for
linear losses from spikes of size 1 carries over: see theory/bounds-everywhere.md, 6.5.
"""

import math
from dataclasses import dataclass, replace

from dpsco_core.base.cards import BoundCard, Privacy
from dpsco_core.bounds.base import Bound, Letter, Terms
from dpsco_core.bounds.euclidean.conditions import DIAMETER
from dpsco_core.bounds.euclidean.conditions import LIPSCHITZ as BOUNDED_GRADIENTS
from dpsco_core.bounds.euclidean.lower_spikes import binding_words
from dpsco_core.bounds.instances.blocks import BlockWords
from dpsco_core.bounds.instances.corners import CornerWords
from dpsco_core.bounds.instances.level import Level, level_at
from dpsco_core.bounds.instances.lq_signs import SignWords
from dpsco_core.bounds.instances.prior import APPROXIMATE_BUDGET
from dpsco_core.bounds.instances.sets import blocks_of, corners_of, lq_signs_of
from dpsco_core.bounds.instances.words import Argument, WordPrior, best, words_bound
from dpsco_core.bounds.losses.median import MEDIAN_RISKS
from dpsco_core.bounds.lq.conditions import on_words
from dpsco_core.data.hidden.far_points import FAR_DISTANCE, Places
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.problems.base import Setting

# Spikes have size 1 at every probability if the moment order is infinite.
_ANY_ORDER = math.inf


@dataclass(frozen=True)
class FarWords:
    """The hidden words of a set, taken as the directions of points that are far away."""

    words: WordPrior  # the words that hide the direction
    places: Places  # the law's name for these directions
    # At s = 1 the excess risk of an answer is the linear loss of `words`, multiplied by this
    # factor.
    factor: float


def far_words(body: ConstraintSet) -> FarWords | None:
    r"""Return the directions of far points for a set; None for a set without hidden words.

    On simplices of radius r a word is :math:`e_J`, whose norm does not grow with d. Its excess loss
    :math:`r-w_J` is half that of the word :math:`2e_J-1`. In the solid simplex every answer loses
    at least as much as some point of the simplex.
    """
    corners = corners_of(body)
    if corners is not None and corners.signed:
        return FarWords(corners, "signed corner", 1.0)
    if corners is not None:
        return FarWords(CornerWords(d=body.d, signed=False), "corner", 0.5)
    words: BlockWords | SignWords | None = blocks_of(body) or lq_signs_of(body)
    if words is None:
        return None
    places: Places = "block" if isinstance(words, BlockWords) else "signs"
    return FarWords(words, places, 1 / math.sqrt(words.weight))


def far_words_bound(
    directions: FarWords, argument: Argument, s: float, n: int, level: Level
) -> float:
    """Return the lower bound on the median's excess risk on a set of size 1.

    A share s of the points is infinitely far away, in one of the hidden directions.

    Examples
    --------
    >>> corner = FarWords(CornerWords(d=20, signed=True), "signed corner", 1.0)
    >>> round(far_words_bound(corner, "two-sided", 0.001, 10_000, 0.0280145), 6)
    0.000367
    """
    return directions.factor * words_bound(directions.words, argument, s, n, _ANY_ORDER, level)


def hardest(
    directions: FarWords, argument: Argument, n: int, level: Level, largest: float = 1.0
) -> float:
    """Return the share s of far points, in (0, largest], with the largest bound."""
    return best(directions.words, argument, n, _ANY_ORDER, level, largest)


def argument_for(level: Level) -> Argument:
    """Return the proof technique that is used for algorithms of a privacy level."""
    return "approx" if isinstance(level, tuple) else "two-sided"


_SETS = "the l1 ball, the simplices, groups, sparse vectors and lq balls with 1 < q < 2"
_LETTERS = (
    Letter("s", "probability of a point at the hidden word, the best one"),
    Letter("B", "number of points at the hidden word, at random"),
    Letter("V", "hidden word, each one equally likely"),
    Letter(r"\ell", "linear loss of an answer, on the set scaled to size 1"),
    Letter("b", "number of points at the word"),
    Letter("w", "answer of a private algorithm"),
)


def _make_row(row: Bound) -> Bound:
    """Return the lower bound on sets with hidden words, from the bound `row` for the ball."""
    privacy: Privacy = row.card.privacy
    argument: Argument = "approx" if privacy == "approx" else "two-sided"

    def evaluate(setting: Setting) -> Terms:
        """Return the private term of the bound at a setting."""
        constants, level = setting.constants, level_at(setting, privacy)
        radius, mean = constants.diameter / 2, constants.mean_gradient_bound
        directions = far_words(setting.body) if math.isfinite(radius) else None
        if level is None or directions is None or mean <= 0 or constants.lipschitz < 1:
            return {"privacy": 0.0}
        s, n = setting.spike_probability, setting.n
        if s is None:
            # A larger share of points at the word would make the mean gradient longer than R.
            s = hardest(directions, argument, n, level, min(1.0, mean))
            return {"privacy": radius * far_words_bound(directions, argument, s, n, level)}
        value = far_words_bound(directions, argument, s, n, level) - 1 / (2 * (FAR_DISTANCE - 1))
        return {"privacy": radius * max(0.0, value)}

    card: BoundCard = replace(
        row.card,
        slug=row.card.slug.replace("geometric-median-", "geometric-median-words-"),
        name=row.card.name.replace("far points", "far points at hidden words"),
        summary="A few points far out in one hidden direction pull the median, and privacy hides "
        f"the direction. A worst case over {row.card.losses}: gradients are unit vectors with a "
        "mean within R, and it does not hold for points of bounded moments. "
        f"{binding_words(privacy)}",
        latex=r"\frac M2\max_s\frac s{\|V\|}E\,\ell_B,\ B\sim\mathrm{Bin}(n,s),\ "
        r"\ell_b\le E\big[\max_y\langle y,V\rangle-\langle w,V\rangle\big]"
        r"\text{ given }B=b",
        proof="packing" if argument == "approx" else "two-sided information",
        geometry="lq",
    )
    budget = (APPROXIMATE_BUDGET,) if argument == "approx" else ()
    on_set = on_words(_words_of, _SETS)
    return Bound(
        card=card,
        evaluate=evaluate,
        hypotheses=(BOUNDED_GRADIENTS, DIAMETER, on_set, *budget),
        letters=_LETTERS,
    )


def _words_of(body: ConstraintSet) -> WordPrior | None:
    """Return the prior of words for a set; None for a set without one."""
    directions = far_words(body)
    return None if directions is None else directions.words


MEDIAN_WORD_RISKS: tuple[Bound, ...] = tuple(_make_row(row) for row in MEDIAN_RISKS)
"""The bounds of the geometric median on sets with hidden words."""

"""Which hidden words a constraint set has, and whether it is as wide as its circumscribed ball."""

from dpsco_core.bounds.instances.blocks import BlockWords
from dpsco_core.bounds.instances.corners import CornerWords
from dpsco_core.bounds.instances.lq_signs import SignWords
from dpsco_core.geometry.ball import Ball, Box, L1Ball, LqBall
from dpsco_core.geometry.base import ConstraintSet, Symmetric
from dpsco_core.geometry.geometries import GROUP_SIZE
from dpsco_core.geometry.simplex import Simplex, SolidSimplex
from dpsco_core.geometry.sparse import GroupBall, SparseHull


def is_round(body: ConstraintSet) -> bool:
    """Whether the set is an l2 ball, as all sets of one kind are in some dimensions.

    Symmetric sets are in dimension 1, balls of groups if there is one group, and hulls of sparse
    vectors if no entry has to be 0.
    """
    if isinstance(body, GroupBall):
        return body.groups == 1
    if isinstance(body, SparseHull):
        return body.sparsity == body.d
    return isinstance(body, Ball) or (isinstance(body, Symmetric) and body.d == 1)


def touches_at_signs(body: ConstraintSet) -> bool:
    """Whether the set touches its circumscribed l2 ball in the direction of every sign vector.

    So do the l2 ball, l_q balls with q >= 2, and the cube: Lemma T of
    theory/bounds-everywhere.md, 1.
    """
    if isinstance(body, LqBall):
        return body.exponent >= 2 or body.d == 1
    is_cube = isinstance(body, Box) and bool((body.half_widths == body.half_widths[0]).all())
    return is_cube or is_round(body)


def corners_of(body: ConstraintSet) -> CornerWords | None:
    """Return the hidden corners of an l1 ball or a simplex; None for other sets."""
    if body.d < 2 or not isinstance(body, L1Ball | Simplex | SolidSimplex):
        return None
    return CornerWords(
        d=body.d, signed=isinstance(body, L1Ball), solid=isinstance(body, SolidSimplex)
    )


def blocks_of(body: ConstraintSet) -> BlockWords | None:
    """Return the hidden blocks of a ball of groups or a hull of sparse vectors.

    None is for other sets, round ones, and groups whose size is not `GROUP_SIZE`.
    """
    if not isinstance(body, GroupBall | SparseHull) or is_round(body):
        return None
    size = body.group_size if isinstance(body, GroupBall) else body.sparsity
    if size != GROUP_SIZE:
        return None
    return BlockWords(groups=body.d // GROUP_SIZE)


def lq_signs_of(body: ConstraintSet) -> SignWords | None:
    """Return all sign vectors as the words of an l_q ball with 1 < q < 2; None for other sets."""
    if not isinstance(body, LqBall) or not 1 < body.exponent < 2:
        return None
    return SignWords(d=body.d, exponent=body.exponent)

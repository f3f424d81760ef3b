"""The robust mean filter: its facts F1 to F6, its shortcut, its symmetries, and broken points."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_core.base.errors import InvalidInput
from dpsco_core.privacy.filter import robust_mean as robust_filter
from dpsco_core.privacy.filter.robust_mean import RobustFilter
from dpsco_core.privacy.filter.sensitivity import (
    changed_members,
    coins_sensitivity,
    inclusion_slope,
    member_floor,
    sharp_weights_sensitivity,
    sure_members,
    weight_floor,
    weights_sensitivity,
)
from dpsco_core.privacy.mechanisms.noise import draw_coins
from tests.folded import each, one_in
from tests.methods.user.checks import check_sensitivity
from tests.methods.user.helpers import (
    BROKEN,
    FALSE_ALARM,
    FILTERS,
    f6_sensitivity,
    far_pairs,
    keep_of,
    neighbours,
    plain_filter,
)

HUB = np.zeros((40, 3))
PETALS = np.repeat(0.99 * np.vstack([np.eye(3), -np.eye(3)]), 10, axis=0)
FLOWER = np.vstack([HUB, PETALS])


def score_sensitivity(count: int) -> float:
    """Return the bound F1: replacing one of K points moves the score by at most 2(K-1)/K.

    Only the 2(K-1) ordered pairs of that point with another one can change, as a point is always
    near itself. The bound is attained if all points are equal and one moves away.
    """
    return 2 * (count - 1) / count


@pytest.mark.parametrize("keep", FILTERS, ids=str)
def test_scores_counts_and_inclusions_are_their_definitions(keep: RobustFilter) -> None:
    for x, y in neighbours(keep, 60, seed=1):
        for points in (x, y):
            score, counts, inclusion = plain_filter(keep, points)
            examined = keep.examine(points)
            assert examined.score == pytest.approx(score, rel=1e-15)
            assert (examined.counts == counts).all()
            np.testing.assert_allclose(examined.inclusion, inclusion, atol=1e-12)


def test_one_user_moves_scores_inclusions_and_means_by_no_more_than_proven() -> None:
    check_sensitivity()


@pytest.mark.parametrize("keep", one_in(2, FILTERS), ids=str)
def test_every_replacement_in_small_sets_on_a_line_is_within_the_sensitivity(
    keep: RobustFilter,
) -> None:
    places = keep.filter_radius * np.array([0.0, 0.5, 1.0, 2.0, 40.0])
    bound_was_used = 0
    for count in (5, 6):
        for places_of in itertools.combinations_with_replacement(range(5), count):
            x = places[list(places_of)][:, None]
            examined = keep.examine(x)
            mean = keep.mean(x, examined.inclusion)
            for i, new in itertools.product(range(count), places):
                y = x.copy()
                y[i] = new
                neighbour_examined = keep.examine(y)
                assert (
                    abs(examined.score - neighbour_examined.score)
                    <= score_sensitivity(count) + 1e-12
                )
                bound = sharp_weights_sensitivity(
                    keep, count, min(examined.score, neighbour_examined.score)
                )
                if math.isfinite(bound):
                    bound_was_used += 1
                    assert abs(mean - keep.mean(y, neighbour_examined.inclusion))[0] <= bound
    assert bound_was_used > 100


@pytest.mark.parametrize("count", [2, 3, 10, 301])
def test_moving_one_of_equal_points_away_attains_the_sensitivity_of_the_score(count: int) -> None:
    x = np.zeros((count, 2))
    y = x.copy()
    y[-1] = 1e6
    change = keep_of("B").examine(x).score - keep_of("B").examine(y).score
    assert change == pytest.approx(2 * (count - 1) / count, rel=1e-14)
    assert score_sensitivity(count) == pytest.approx(change, rel=1e-14)


def test_the_slope_of_the_inclusions_is_attained() -> None:
    count, keep = 20, keep_of("B")
    x = np.zeros((count, 1))
    x[:5] = 9.0
    y = x.copy()
    y[0] = 0.0
    changes = np.abs(keep.examine(x).inclusion - keep.examine(y).inclusion)
    assert changes[5:].max() == pytest.approx(inclusion_slope(keep, count), rel=1e-12)
    assert inclusion_slope(keep, count) == pytest.approx(2 / count)
    assert inclusion_slope(keep_of("A", 2 / 3), count) == pytest.approx(6 / count)
    outlier = np.zeros((count, 1))
    outlier[0] = 9.0
    total = np.abs(1 - keep.examine(outlier).inclusion)[1:].sum()
    assert total == pytest.approx((count - 1) / (0.5 * count)), "the sum of F4 is attained at b = 1"


@pytest.mark.parametrize("keep", FILTERS, ids=str)
def test_points_of_the_mean_are_close_and_their_weight_is_above_its_floor(
    keep: RobustFilter,
) -> None:
    floors = 0
    for x, _ in neighbours(keep, 300, seed=4):
        examined = keep.examine(x)
        is_included = examined.inclusion > 0
        assert far_pairs(keep, x, is_included) <= 2 * keep.filter_radius * (1 + 1e-8)
        floor = weight_floor(keep, len(x), examined.score)
        assert examined.inclusion.sum() >= floor - 1e-9
        if sure_members(keep, len(x), examined.score):
            floors += 1
            assert (examined.inclusion == 1).sum() >= examined.score - 1e-9
    assert floors > 10 or keep.form == "B"


def test_a_hub_with_petals_attains_the_formula() -> None:
    equal, doubled = keep_of("B", 2 / 3), keep_of("A", 2 / 3)
    examined = equal.examine(FLOWER)
    assert examined.score == 70.0
    assert examined.inclusion.sum() == 40.0, "not two thirds: equality in F3'"
    assert weight_floor(equal, 100, 70.0) == pytest.approx(40.0)
    assert (examined.inclusion[:40] == 1).all() and (examined.inclusion[40:] == 0).all()
    assert doubled.examine(FLOWER).score == 70.0
    assert doubled.examine(FLOWER).inclusion.sum() == 100.0
    np.testing.assert_allclose(equal.mean(FLOWER, examined.inclusion), 0, atol=1e-12)


def test_without_its_proviso_the_formula_fails_and_is_refused() -> None:
    keep, outlier = keep_of("B"), 1e6
    x, y = np.array([[0.0], [outlier], [0.0]]), np.array([[0.0], [outlier], [outlier]])
    examined, neighbour_examined = keep.examine(x), keep.examine(y)
    assert examined.score == neighbour_examined.score == pytest.approx(5 / 3)
    assert f6_sensitivity(keep, 3, 5 / 3) == pytest.approx(20.0)
    distance = abs(keep.mean(x, examined.inclusion) - keep.mean(y, neighbour_examined.inclusion))[0]
    assert distance == pytest.approx(outlier)
    assert weights_sensitivity(keep, 3, 5 / 3) == math.inf
    assert weights_sensitivity(keep, 3, 3.0) < math.inf, "and where it holds it is not"
    assert coins_sensitivity(keep, 30, 17.0, failure=1e-3, size_failure=1e-3) == math.inf


def test_the_sensitivities_have_the_constants_of_the_theory() -> None:
    count = 3000
    assert weights_sensitivity(keep_of("A", 2 / 3), count, 2 * count / 3) == pytest.approx(
        48 / count, rel=1e-3
    )  # The expected value is 48 tau/C, with tau the score radius.
    assert weights_sensitivity(keep_of("B", 2 / 3), count, 0.7 * count) == pytest.approx(
        40 / count, rel=1e-3
    )
    assert weights_sensitivity(keep_of("A", 2 / 3), count, 0.7 * count) == pytest.approx(
        46 / count, rel=1e-2
    )
    assert weights_sensitivity(keep_of("B"), count, count) == pytest.approx(8 / count, rel=1e-3)
    paper = keep_of("A", 2 / 3, "coins")
    for failure, changed in ((1e-4, 17), (1e-6, 21), (1e-7, 22), (1e-8, 24), (1e-10, 27)):
        assert changed_members(paper, count, failure) == changed
        assert coins_sensitivity(paper, count, 2 * count / 3, failure=failure) == pytest.approx(
            6 * (2 + changed) / count, rel=1e-8
        )
    for keep, floor in itertools.product(FILTERS, (0.7, 0.9, 1.0)):
        if keep.form == "B" or floor >= keep.upper:
            assert weights_sensitivity(keep, 500, floor * 500) == pytest.approx(
                f6_sensitivity(keep, 500, floor * 500), rel=1e-8
            )


@pytest.mark.parametrize("keep", FILTERS, ids=str)
@pytest.mark.parametrize("share", [0.75, 0.85, 0.95, 1.0])
def test_the_sharp_sensitivity_is_its_formula(keep: RobustFilter, share: float) -> None:
    count, a, b = 900, keep.lower, keep.upper
    floor = weight_floor(keep, count, share * count)
    common = floor - 1 - (count - 1) / (2 * (b - a) * count)
    u = np.linspace(a, 1, 200_001)
    pull = np.clip((u - a) / (b - a), 0, 1) * (1 + np.minimum(1, (1 - u) * count / common))
    rest = (count - 1 + min(count - 1, count * count * (1 - share) / common)) / ((b - a) * count)
    formula = keep.filter_radius / floor * (2 * pull.max() + rest)
    sensitivity = sharp_weights_sensitivity(keep, count, share * count)
    f6 = weights_sensitivity(keep, count, share * count)
    assert sensitivity == pytest.approx(min(formula, f6), rel=1e-6)
    if share == 1 and b == 1:
        assert sensitivity == pytest.approx(f6 / 2, rel=5e-3)


@pytest.mark.parametrize("count", [6, 30, 400])
def test_one_user_across_the_crowd_attains_half_of_the_sharp_sensitivity(count: int) -> None:
    keep = keep_of("B")
    x, y = np.zeros((count, 1)), np.zeros((count, 1))
    x[0], y[0] = -1.0, 1.0
    examined, neighbour_examined = keep.examine(x), keep.examine(y)
    distance = abs(keep.mean(x, examined.inclusion) - keep.mean(y, neighbour_examined.inclusion))[0]
    assert distance == pytest.approx(2 / count)
    bound = sharp_weights_sensitivity(keep, count, count)
    assert 0.49 * bound < distance <= bound
    # With 6 points the distance exceeds half of the bound, so half the sensitivity would be too
    # small.
    assert count > 6 or distance > bound / 2


@each("failure", [0.5, 1e-3, 1e-9, 1e-15, 1e-40, 1e-250])
@each("count", [2, 5, 40, 2000])
def test_changed_members_is_the_smallest_that_the_binomial_tail_allows(
    count: int, failure: float
) -> None:
    keep = keep_of("A", 2 / 3, "coins")
    slope = min(1.0, 6 / count)
    # The tails of `binom` itself lose their accuracy below 1e-16.
    logs = binom.logpmf(np.arange(count), count - 1, slope)
    # These are the logarithms of the probabilities of more than q changes.
    tails = [*np.logaddexp.accumulate(logs[::-1])[::-1][1:], -np.inf]
    expected = next(q for q in range(count) if tails[q] <= math.log(failure))
    assert changed_members(keep, count, failure) == expected


def test_coins_of_neighbours_differ_no_more_than_the_binomial_that_dominates_them() -> None:
    count, keep = 60, keep_of("A", 2 / 3, "coins")
    x = np.zeros((count, 1))
    x[:24] = 99.0  # Here h = 36 = 0.6 K, so the probability of inclusion is 0.6, on the slope.
    y = x.copy()
    y[-1] = -99.0
    examined, neighbour_examined = keep.examine(x), keep.examine(y)
    runs, changes = 20_000, []
    for seed in range(runs // 10):
        rng, same_rng = np.random.default_rng(seed), np.random.default_rng(seed)
        for _ in range(10):
            s, t = (
                draw_coins(examined.inclusion, rng),
                draw_coins(neighbour_examined.inclusion, same_rng),
            )
            changes.append((s != t)[:-1].sum())
    mean = np.mean(changes)
    assert 0.5 * 35 / 10 < mean <= 6
    for q in range(12):
        tail = binom.sf(q, count - 1, 6 / count)
        allowed = binom.ppf(1 - FALSE_ALARM / 12, runs, tail)
        assert (np.array(changes) > q).sum() <= allowed


@pytest.mark.parametrize("form", ["A", "B"])
def test_means_by_common_coins_move_no_more_than_the_number_of_changes_allows(form: str) -> None:
    keep = keep_of(form, 2 / 3, "coins")
    tried = 0
    for seed, (x, y) in enumerate(neighbours(keep, 400, seed=8)):
        examined, neighbour_examined = keep.examine(x), keep.examine(y)
        s = draw_coins(examined.inclusion, np.random.default_rng(seed))
        t = draw_coins(neighbour_examined.inclusion, np.random.default_rng(seed))
        differ = (s != t).sum()
        replaced = ~((x == y) | (np.isnan(x) & np.isnan(y))).all(axis=1)
        size = min(s.sum(), t.sum())
        members = differ + 2 * (s * t * replaced).sum()
        if size > 1 + members / 2:
            tried += 1
            distance = np.linalg.norm(keep.mean(x, s) - keep.mean(y, t))
            assert distance <= 2 * keep.filter_radius * members / size * (1 + 1e-8)
    assert tried > 100


def test_hoeffding_bounds_the_number_of_members_in_form_b() -> None:
    keep, failure = keep_of("B", 2 / 3, "coins"), 0.05
    score = keep.examine(FLOWER).score
    floor = member_floor(keep, 100, score, failure)
    assert floor == pytest.approx(40 - math.sqrt(100 * math.log(20) / 2))
    with pytest.raises(InvalidInput, match="failure must be given where no member is sure"):
        member_floor(keep, 100, score, None)
    assert member_floor(keep_of("A", 2 / 3), 100, 70.0, None) == 70.0


@pytest.mark.parametrize("keep", FILTERS, ids=str)
@pytest.mark.parametrize("d", [1, 2, 30])
def test_the_shortcut_agrees_with_all_pairs_exactly(
    keep: RobustFilter, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(d).normal(size=(50, d))
    x *= 0.4999 * keep.score_radius / np.linalg.norm(x - x.mean(axis=0), axis=1).max()
    short = keep.examine(x)
    assert keep._are_concentrated(x)
    monkeypatch.setattr(RobustFilter, "_are_concentrated", lambda self, points: False)
    monkeypatch.setattr(robust_filter, "BLOCK", 120)  # A block then has two rows.
    full = keep.examine(x)
    assert short.score == full.score == 50
    assert (short.counts == full.counts).all()
    assert (short.inclusion == full.inclusion).all()
    np.testing.assert_allclose(keep.mean(x, short.inclusion), x.mean(axis=0), rtol=0, atol=1e-14)


def test_the_size_of_blocks_does_not_change_the_result_of_the_filter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep = keep_of("B", 2 / 3)
    x = np.random.default_rng(0).normal(size=(101, 3)) * 0.6
    whole = keep.examine(x)
    mean = keep.mean(x, whole.inclusion)
    monkeypatch.setattr(robust_filter, "BLOCK", 250)
    examined = keep.examine(x)
    assert 1 < whole.score < 101
    assert examined.score == whole.score and (examined.counts == whole.counts).all()
    np.testing.assert_allclose(keep.mean(x, examined.inclusion), mean, atol=1e-13)


def test_inclusion_is_zero_at_half_one_at_two_thirds_and_linear_between() -> None:
    counts = np.arange(0, 61)
    p = keep_of("A", 2 / 3).inclusion_of(np.concatenate([counts[1:]]))
    assert p[29] == 0 and p[39] == 1 and p[34] == pytest.approx(0.5)
    assert (p[:30] == 0).all() and (p[39:] == 1).all()
    np.testing.assert_allclose(np.diff(p[29:40]), 0.1, rtol=1e-9)
    for count in range(3, 400, 3):
        p = keep_of("A", 2 / 3).inclusion_of(np.full(count, 2 * count // 3))
        assert (p == 1).all(), "2K/3 is no double"


def test_the_filter_is_equivariant() -> None:
    rng = np.random.default_rng(2)
    keep = keep_of("B", 2 / 3)
    x = rng.normal(size=(40, 3)) * 0.5
    examined = keep.examine(x)
    mean = keep.mean(x, examined.inclusion)
    assert 0 < examined.inclusion.sum() < 40
    order = rng.permutation(40)
    assert (keep.examine(x[order]).inclusion == examined.inclusion[order]).all()
    shifted = x + np.array([7.0, -3.0, 100.0])
    assert (keep.examine(shifted).inclusion == examined.inclusion).all()
    np.testing.assert_allclose(
        keep.mean(shifted, examined.inclusion), mean + np.array([7.0, -3.0, 100.0]), atol=1e-12
    )
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    assert (keep.examine(x @ rotation).inclusion == examined.inclusion).all()
    np.testing.assert_allclose(
        keep.mean(x @ rotation, examined.inclusion), mean @ rotation, atol=1e-12
    )
    for scale in (3.7, 1e-90, 1e90):
        scaled = RobustFilter(score_radius=scale, filter_radius=scale, upper=2 / 3)
        scaled_examined = scaled.examine(scale * x)
        assert (scaled_examined.inclusion == examined.inclusion).all()
        np.testing.assert_allclose(
            scaled.mean(scale * x, scaled_examined.inclusion), scale * mean, rtol=1e-9
        )


@each("value", BROKEN)
@each("keep", FILTERS, ids=str)
def test_a_broken_point_is_a_far_point(keep: RobustFilter, value: float) -> None:
    x = np.random.default_rng(1).normal(size=(30, 2)) * 0.1
    outlying, broken = x.copy(), x.copy()
    outlying[4] = [1e5, 0.0]
    broken[4, 1] = value
    examined, neighbour_examined = keep.examine(outlying), keep.examine(broken)
    assert examined.score == neighbour_examined.score
    assert (
        (examined.counts == neighbour_examined.counts).all()
        and examined.counts[4] == 1
        and examined.inclusion[4] == 0
    )
    assert (
        keep.mean(outlying, examined.inclusion) == keep.mean(broken, neighbour_examined.inclusion)
    ).all()


@pytest.mark.parametrize("value", BROKEN)
def test_broken_points_alone_give_a_score_of_one_and_no_mean(value: float) -> None:
    keep = keep_of("B")
    examined = keep.examine(np.full((5, 2), value))
    assert examined.score == 1 and (examined.inclusion == 0).all()
    assert (keep.mean(np.full((5, 2), value), examined.inclusion) == 0).all()


def test_one_outlier_among_equal_points_is_left_out() -> None:
    keep = keep_of("B")
    x = np.full((20, 2), 3.0)
    x[7] = 1e9
    examined = keep.examine(x)
    assert examined.counts[7] == 1 and examined.inclusion[7] == 0
    distance = np.linalg.norm(keep.mean(x, examined.inclusion) - 3.0)
    assert distance <= weights_sensitivity(keep, 20, examined.score)


@pytest.mark.parametrize("isolated", [0, 5, 11, 20])
def test_the_score_falls_with_the_square_of_the_isolated_share(isolated: int) -> None:
    x = np.zeros((100, 1))
    x[:isolated, 0] = 10.0 * np.arange(1, isolated + 1)
    share = isolated / 100
    score = keep_of("B").examine(x).score
    assert score == pytest.approx((1 - share) ** 2 * 100 + share)
    assert (score >= 80) == (share < 1 - math.sqrt(0.8))


def test_a_mean_far_from_zero_keeps_its_digits() -> None:
    keep = RobustFilter(score_radius=1e-6, filter_radius=1e-6)
    centre = 100.0
    x = centre + np.array([[0.0], [2e-7], [4e-7]])
    mean = keep.mean(x, keep.examine(x).inclusion)
    assert abs(mean[0] - centre - 2e-7) < 3e-14, "two roundings at 100, however many points"


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("score_radius", 0.0, "score_radius must be between 1e-100 and 1e\\+100, got"),
        ("score_radius", math.nan, "score_radius must be"),
        ("filter_radius", 0.5, "filter_radius must be between the score radius and 1e\\+06 times"),
        ("lower", 0.4, "lower must be at least 1/2 and below 1, got lower=0.4"),
        ("upper", 0.5, "upper must be above lower"),
        ("upper", 1.1, "upper must be above lower"),
        ("inclusion", "dice", "inclusion must be weights or coins, got inclusion=dice"),
    ],
)
def test_a_filter_refuses_parameters_that_its_proofs_do_not_cover(
    field: str, value: object, sentence: str
) -> None:
    fields = {"score_radius": 1.0, "filter_radius": 1.0, field: value}
    with pytest.raises(InvalidInput, match=sentence):
        RobustFilter(**fields)


def test_invalid_points_and_coins_are_refused() -> None:
    keep = keep_of("B", inclusion="coins")
    for shape in ((1, 2), (4,), (4, 0)):
        with pytest.raises(InvalidInput, match="points must be of shape"):
            keep.examine(np.zeros(shape))
    with pytest.raises(InvalidInput, match="rng must be given for coins"):
        keep.filtered_mean(np.zeros((3, 1)), np.ones(3))
    with pytest.raises(InvalidInput, match="weights must be 0 for broken points"):
        keep.mean(np.array([[0.0], [np.nan]]), np.ones(2))
    with pytest.raises(InvalidInput, match="count must be an integer of at least 2, got count=1"):
        weights_sensitivity(keep, 1, 1.0)
    with pytest.raises(InvalidInput, match="failure must be at least 1e-290"):
        changed_members(keep, 10, 0.0)

"""A release of users: all records of one user are hidden, however many there are."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from dpsco_core import ApproxDP, InvalidInput, plan_release, release
from dpsco_core.catalogue import METHOD_SLUGS, method_card

RNG = np.random.default_rng(0)
ITEMS = RNG.standard_t(4, size=(1500, 5, 2)) + np.array([0.5, -0.25])
W = np.array([0.8, -0.4])
LABELS = np.where(RNG.random((1500, 5)) < 1 / (1 + np.exp(-3 * ITEMS @ W)), 1.0, -1.0)
OF_USERS = [
    card.slug
    for card in map(method_card, METHOD_SLUGS)
    if card.level == "user" and card.privacy != "none"
]
STATED: dict[str, Any] = {"bound": 2.0, "unit": 1.5}


@pytest.mark.parametrize("slug", OF_USERS)
def test_every_method_of_users_takes_arrays_of_users(slug: str) -> None:
    is_pair = "logistic" in method_card(slug).problems
    records: Any = (ITEMS, LABELS) if is_pair else ITEMS
    answer = release(records, method=slug, epsilon=8.0, **STATED, rng=np.random.default_rng(1))
    assert answer.value.shape == (2,) and np.isfinite(answer.value).all()
    spent = answer.spent
    assert isinstance(spent, ApproxDP) and spent.epsilon <= 8.0 and spent.delta <= 1e-6


def test_all_records_of_a_user_move_a_release_by_no_more_than_its_ledger_says() -> None:
    changed = [ITEMS.copy() for _ in range(2)]
    changed[0][0], changed[1][0] = 1e12, -1e12
    answers = [
        release(x, method="user.mean-clipped", bound=50.0, rng=np.random.default_rng(3))
        for x in changed
    ]
    [entry] = answers[0].ledger.entries
    shift = float(np.linalg.norm(answers[0].value - answers[1].value))
    assert shift == pytest.approx(entry.sensitivity, rel=1e-9)
    assert entry.sensitivity == pytest.approx(2 * answers[0].parameters["clip_radius"] / 1500)


def test_identifiers_group_records_wherever_they_stand() -> None:
    """With almost no noise and no clipping, it is the mean over users of their means."""
    names = np.repeat([f"user {i}" for i in range(1500)], 5)
    order = RNG.permutation(7500)
    rows = ITEMS.reshape(-1, 2)[order]
    answer = release(
        rows,
        users=names[order],
        items=5,
        method="user.mean-clipped",
        epsilon=1e5,
        bound=500.0,
        rng=np.random.default_rng(3),
    )
    assert np.allclose(answer.value, ITEMS.mean(axis=(0, 1)), atol=0.02)


def test_users_count_alike_whatever_their_number_of_records() -> None:
    """The mean of a user with many records counts as that of a user with one."""
    identifiers = np.concatenate([np.repeat(np.arange(500), 9), np.arange(500, 1000)])
    rows = np.where(identifiers < 500, 1.0, -1.0)
    answer = release(
        rows,
        users=identifiers,
        items=4,
        method="user.mean-clipped",
        epsilon=1e5,
        bound=50.0,
        rng=np.random.default_rng(3),
    )
    assert answer.value[0] == pytest.approx(0.0, abs=0.01)


def test_neither_plan_nor_sentences_tell_how_many_records_users_have() -> None:
    """All but the value are equal for users with equal and with very unequal numbers."""
    equal = np.repeat(np.arange(400), 5)
    unequal = np.concatenate([np.arange(400), np.zeros(1600, dtype=int)])
    rows = ITEMS.reshape(-1, 2)[:2000]
    answers = [
        release(
            rows,
            users=users,
            items=5,
            method="user.mean-clipped",
            alike=0.0,
            **STATED,
            rng=np.random.default_rng(4),
        )
        for users in (equal, unequal)
    ]
    of_equal, of_unequal = answers
    assert (
        of_equal.ledger.entries == of_unequal.ledger.entries
        and of_equal.interval == of_unequal.interval
    )
    assert of_equal.notes == of_unequal.notes and of_equal.parameters == of_unequal.parameters


def test_an_interval_of_users_covers_the_mean_though_their_records_are_equal() -> None:
    """By default nothing is assumed of how the records of a user hang together."""
    covering = shorter = 0
    for trial in range(20):
        rng = np.random.default_rng(trial)
        same = np.repeat(rng.standard_normal((300, 1, 1)), 50, axis=1)
        options: dict[str, Any] = {"method": "user.mean-clipped", "bound": 1.0, "unit": 1.0}
        answer = release(same, **options, rng=rng)
        assert isinstance(answer.interval, float)
        covering += abs(float(answer.value[0])) <= answer.interval
        independent = release(same, **options, alike=0.0, rng=rng).interval
        assert isinstance(independent, float)
        shorter += independent < answer.interval
    assert covering == 20 and shorter == 20


def test_a_regression_on_users_finds_the_direction() -> None:
    answer = release(
        (ITEMS, LABELS), problem="logistic", epsilon=50.0, **STATED, rng=np.random.default_rng(7)
    )
    cosine = answer.value @ W / np.linalg.norm(answer.value) / np.linalg.norm(W)
    assert answer.method == "user.clipped-means" and cosine > 0.9


@pytest.mark.parametrize(
    ("records", "options", "message"),
    [
        (ITEMS, {"method": "mean.clipped"}, "a private one on users for records of shape"),
        (ITEMS, {"users": np.arange(1500), "items": 5}, "users must be left out for records of sh"),
        (ITEMS, {"items": 5}, "items must be left out without users, got items=5"),
        (ITEMS[0], {"users": [1, 2, 3]}, "items must be given with users, from public knowledge"),
        (ITEMS[0], {"users": [1, 2, 3], "items": 2}, r"users must be 5 whole .* got users=shape"),
        (ITEMS[0], {"users": [1.0] * 5, "items": 2}, "users must be 5 whole numbers or texts"),
        (ITEMS[0], {"users": [1, None, 2, 3, 4], "items": 2}, "users must be 5 whole numbers or"),
        (ITEMS[0], {"users": [[1], [1, 2]], "items": 2}, "users must be 5 whole numbers or texts"),
        (ITEMS[0], {"users": [1] * 5, "items": 0}, "items must be"),
        (ITEMS[0], {"users": [1] * 5, "items": 10**9}, "items must be"),
        (ITEMS[0], {"users": range(5), "items": 400_000_000}, "items must be at most 50,000,000 h"),
        (ITEMS, {"alike": 1.5}, "alike must be a number from 0 to 1, got alike=1.5"),
        (ITEMS[0], {"alike": 0.5}, "alike must be left out but for the mean of users"),
        ((ITEMS, LABELS), {"alike": 0.5}, "alike must be left out but for the mean of users"),
        ((ITEMS, LABELS[:, :2]), {}, r"targets must be of shape \(1500, 5\)"),
        (ITEMS[None], {}, r"records must be of shape \(n,\) or \(n, d\), or \(n, m, d\)"),
        (
            ITEMS[0],
            {"method": "user.mean-clipped"},
            "method must be a private one on records, got",
        ),
    ],
)
def test_a_wrong_statement_about_users_is_refused_in_one_sentence(
    records: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput, match=message) as refusal:
        release(records, **(STATED | options))
    assert str(refusal.value).endswith(".") and "\n" not in str(refusal.value)


@pytest.mark.parametrize("method", ["user.clipped-means", "user.mean-clipped", "user.phased-sgd"])
def test_a_method_on_users_says_what_is_missing_on_records(method: str) -> None:
    sentence = (
        f"got method={method}, which needs users: pass users=... with items=m, or an array of "
        "shape (n, m, d); on the command line, --user and --items."
    )
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        release(np.zeros((10, 2)), method=method, bound=1.0)
    with pytest.raises(InvalidInput, match=re.escape(sentence)):
        plan_release((10, 2), method=method, bound=1.0)

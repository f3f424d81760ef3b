"""Several releases draw from one budget: their shares add up, and none exceeds what is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpsco_core import (
    ZCDP,
    ApproxDP,
    InvalidInput,
    Ledger,
    NotApplicable,
    PureDP,
    SharedLedger,
    release,
)
from dpsco_core.privacy import BudgetExceeded, GaussianNoise
from dpsco_core.privacy.budget import Budget

ROWS = np.random.default_rng(0).standard_normal((2000, 2))
STATED: dict[str, Any] = {"bound": 2.0, "unit": 1.0, "method": "mean.clipped"}


class CountedDraws(np.random.Generator):
    """A generator that fails as soon as something is drawn."""

    def standard_normal(self, *args: Any, **options: Any) -> Any:
        """Fail: a call that is refused draws nothing."""
        raise AssertionError("noise was drawn")


def state_budget(budget: Budget) -> dict[str, float | None]:
    """Return the arguments of `release` that state a budget."""
    if isinstance(budget, ZCDP):
        return {"epsilon": None, "delta": None, "rho": budget.rho}
    return {"epsilon": budget.epsilon, "delta": getattr(budget, "delta", 0.0)}


@pytest.mark.parametrize(
    ("whole", "shares", "spent", "left"),
    [
        (ZCDP(rho=1.0), [ZCDP(rho=0.25), ZCDP(rho=0.5)], ZCDP(rho=0.75), ZCDP(rho=0.25)),
        (PureDP(epsilon=3.0), [PureDP(epsilon=1.0)] * 2, PureDP(epsilon=2.0), PureDP(epsilon=1.0)),
        (
            ApproxDP(epsilon=2.0, delta=4e-6),
            [ApproxDP(epsilon=0.5, delta=1e-6)] * 2,
            ApproxDP(epsilon=1.0, delta=2e-6),
            ApproxDP(epsilon=1.0, delta=2e-6),
        ),
        # Delta may be used up before epsilon, and a pure share has none.
        (
            ApproxDP(epsilon=2.0, delta=1e-6),
            [ApproxDP(epsilon=0.5, delta=1e-6), PureDP(epsilon=0.5)],
            ApproxDP(epsilon=1.0, delta=1e-6),
            PureDP(epsilon=1.0),
        ),
    ],
)
def test_shares_add_up_in_the_notion_of_the_budget(
    whole: Budget, shares: list[Budget], spent: Budget, left: Budget
) -> None:
    ledger = SharedLedger(whole)
    assert ledger.spent() is None and ledger.left() == whole
    for share in shares:
        method = "mean.cwme-pure" if isinstance(share, PureDP) else "mean.clipped"
        answer = release(
            ROWS, **(STATED | {"method": method}), ledger=ledger, **state_budget(share)
        )
        assert answer.ledger.budget == share
    assert ledger.spent() == spent and ledger.left() == left
    assert len(ledger.entries) >= len(shares)


@pytest.mark.parametrize("parts", [3, 7, 10])
def test_equal_parts_use_a_budget_up_in_spite_of_rounding(parts: int) -> None:
    whole = ApproxDP(epsilon=1.0, delta=1e-6)
    ledger = SharedLedger(whole)
    for _ in range(parts):
        ledger.share(ApproxDP(epsilon=1.0 / parts, delta=1e-6 / parts))
    assert ledger.left() is None and ledger.spent() == whole
    with pytest.raises(InvalidInput, match="nothing, got budget="):
        ledger.share(ApproxDP(epsilon=1e-6, delta=1e-12))


@pytest.mark.parametrize(
    ("whole", "share", "message"),
    [
        (ZCDP(rho=0.1), ZCDP(rho=0.06), r"at most what is left .* 0\.05-zCDP, got budget=0\.06-z"),
        (ZCDP(rho=0.1), ApproxDP(epsilon=0.1, delta=1e-6), "stated by rho, beside epsilon=None"),
        (ZCDP(rho=0.1), PureDP(epsilon=0.1), "stated by rho, beside epsilon=None"),
        (PureDP(epsilon=1.0), ApproxDP(epsilon=0.1, delta=1e-6), "epsilon, with delta=0, as"),
        (PureDP(epsilon=1.0), ZCDP(rho=0.01), "epsilon, with delta=0, as"),
        (ApproxDP(epsilon=2.0, delta=1e-6), ZCDP(rho=0.01), "epsilon, with delta or without one"),
        # The epsilon would fit, and the delta does not.
        (ApproxDP(epsilon=9.0, delta=1e-6), ApproxDP(epsilon=1.0, delta=9e-7), "at most what is l"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_before_anything_is_drawn(
    whole: Budget, share: Budget, message: str
) -> None:
    ledger = SharedLedger(whole)
    ledger.share(
        ZCDP(rho=0.05)
        if isinstance(whole, ZCDP)
        else type(whole)(
            **{k: v / 2 for k, v in vars(whole).items()}  # half of the budget
        )
    )
    left, spent = ledger.left(), ledger.spent()
    method = "mean.cwme-pure" if isinstance(share, PureDP) else "mean.clipped"
    rng = CountedDraws(np.random.PCG64(1))
    with pytest.raises(InvalidInput, match=message) as refusal:
        release(
            ROWS, **(STATED | {"method": method}), ledger=ledger, rng=rng, **state_budget(share)
        )
    assert "nothing was drawn" in str(refusal.value) and "\n" not in str(refusal.value)
    assert ledger.left() == left and ledger.spent() == spent


def test_a_call_that_cannot_run_takes_nothing() -> None:
    ledger = SharedLedger(ApproxDP(epsilon=1.0, delta=1e-6))
    with pytest.raises(InvalidInput, match="bound must be"):
        release(ROWS, **(STATED | {"bound": -1.0}), ledger=ledger)
    with pytest.raises(NotApplicable):
        release(ROWS, **STATED, epsilon=0.5, delta=0.0, ledger=ledger)
    assert ledger.left() == ledger.budget


def test_equal_noise_in_two_answers_is_refused() -> None:
    ledger = SharedLedger(ZCDP(rho=0.1))
    budget: dict[str, Any] = {"epsilon": None, "delta": None, "rho": 0.01}
    release(ROWS, **STATED, **budget, ledger=ledger, rng=np.random.default_rng(1))
    with pytest.raises(InvalidInput, match="whose noise is equal"):
        release(ROWS, **STATED, **budget, ledger=ledger, rng=np.random.default_rng(1))
    rng = np.random.default_rng(2)
    for _ in range(2):
        release(ROWS, **STATED, **budget, ledger=ledger, rng=rng)
    assert ledger.spent() == ZCDP(rho=0.03)


def test_records_and_users_do_not_share_a_ledger() -> None:
    ledger = SharedLedger(ApproxDP(epsilon=3.0, delta=3e-6))
    release(ROWS, **STATED, ledger=ledger)
    with pytest.raises(InvalidInput, match="one of releases on records only, got ledger=a user"):
        release(ROWS.reshape(500, 4, 2), bound=2.0, unit=1.0, ledger=ledger)
    assert ledger.spent() == ApproxDP(epsilon=1.0, delta=1e-6)


def test_a_run_that_fails_has_spent_its_whole_share() -> None:
    ledger = SharedLedger(ZCDP(rho=1.0))
    run = ledger.share(ZCDP(rho=0.25))
    noise = GaussianNoise(l2_sensitivity=1.0, rho=0.2)
    run.release(noise, np.zeros(2), np.random.default_rng(0), label="the first step")
    assert ledger.spent() == ZCDP(rho=0.25) and ledger.left() == ZCDP(rho=0.75)
    assert ledger.entries == run.entries
    assert str(ledger).splitlines() == [
        "Shared ledger with 1-zCDP, of which 0.25-zCDP is set aside:",
        "  the first step: gaussian, sensitivity 1, noise 1.581",
    ]


def test_a_run_cannot_exceed_its_share_though_more_is_left() -> None:
    run = SharedLedger(ZCDP(rho=1.0)).share(ZCDP(rho=0.25))
    noise = GaussianNoise(l2_sensitivity=1.0, rho=0.3)
    with pytest.raises(BudgetExceeded):
        run.release(noise, np.zeros(2), np.random.default_rng(0))
    assert run.entries == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"ledger": Ledger(ZCDP(rho=1.0))},
            r"ledger must be a dpsco_core\.SharedLedger, which several .*, got ledger=Ledger\.",
        ),
        ({"rng": 3}, r"rng must be a numpy\.random\.Generator, got rng=int\."),
    ],
)
def test_what_is_no_ledger_or_generator_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(ROWS, **STATED, **options)

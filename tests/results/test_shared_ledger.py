"""Several releases share one budget: their shares add up, and none exceeds what is left."""

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
    rng = np.random.default_rng(1)
    state = repr(rng.bit_generator.state)
    with pytest.raises(InvalidInput, match=message) as refusal:
        release(
            ROWS, **(STATED | {"method": method}), ledger=ledger, rng=rng, **state_budget(share)
        )
    assert "nothing was drawn" in str(refusal.value) and "\n" not in str(refusal.value)
    assert ledger.left() == left and ledger.spent() == spent
    assert repr(rng.bit_generator.state) == state


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


def test_a_unit_is_record_or_user() -> None:
    shared = SharedLedger(ZCDP(rho=1.0))
    with pytest.raises(InvalidInput, match="unit must be record or user, got unit=household"):
        shared.share(ZCDP(rho=0.1), unit="household")  # type: ignore[arg-type]
    assert shared.left() == shared.budget


def test_a_run_that_fails_counts_as_spent_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("the run failed")

    shared = SharedLedger(ApproxDP(epsilon=1.5, delta=2e-6))
    with monkeypatch.context() as patched:
        patched.setattr("dpsco_core.results.release.planned.released", fail)
        with pytest.raises(RuntimeError, match="the run failed"):
            release(ROWS, **STATED, ledger=shared)
    assert not shared.entries
    assert shared.spent() == ApproxDP(epsilon=1.0, delta=1e-6)
    with pytest.raises(InvalidInput, match="at most what is left"):
        release(ROWS, **STATED, ledger=shared)


def test_a_run_spends_its_share_alone_and_the_share_counts_once() -> None:
    shared = SharedLedger(ZCDP(rho=1.0))
    spending_run, idle_run = shared.share(ZCDP(rho=0.25)), shared.share(ZCDP(rho=0.25))
    noise, rng = GaussianNoise(l2_sensitivity=1.0, rho=0.25), np.random.default_rng(0)
    spending_run.release(noise, np.zeros(2), rng, label="a sum")
    with pytest.raises(BudgetExceeded):
        spending_run.release(noise, np.zeros(2), rng)
    assert shared.entries == spending_run.entries and not idle_run.entries
    assert spending_run.spent() == ZCDP(rho=0.25) and idle_run.spent() is None
    assert shared.spent() == ZCDP(rho=0.5) == shared.left()
    assert str(shared).startswith("Shared ledger with 1-zCDP, of which 0.5-zCDP is set aside:\n")
    assert str(spending_run) in str(shared) and "a sum" in str(shared)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ledger": 3.0}, r"^ledger must be a dpsco_core\.SharedLedger, got ledger=float\.$"),
        (
            {"ledger": Ledger(ZCDP(rho=1.0))},
            r"^ledger must be a dpsco_core\.SharedLedger, got ledger=Ledger\.$",
        ),
        ({"rng": 3}, r"rng must be a numpy\.random\.Generator, got rng=int\."),
    ],
)
def test_what_is_no_ledger_or_generator_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        release(ROWS, **STATED, **options)

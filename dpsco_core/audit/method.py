"""An audit of a method of the catalogue in one call."""

from collections.abc import Mapping
from typing import Any

from dpsco_core.audit.attacks import Judged, judge
from dpsco_core.audit.engine import CONFIDENCE, Audit, Fault, run_audit
from dpsco_core.audit.stages import at_printed_rho, stage
from dpsco_core.fields import parse
from dpsco_core.scenario import Scenario

RUNS = 20_000
# The default delta for a flawed printed constant: 20,000 runs refute the constant at this delta.
FLAW_DELTA = 0.2


def audit_method(
    method: str = "mean.clipped",
    *,
    trials: int = RUNS,
    fault: Fault = "none",
    confidence: float = CONFIDENCE,
    at_delta: float | None = None,
    n: int | None = None,
    d: int | None = None,
    m: int | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    seed: int | None = None,
) -> Judged:
    """Run a private method on its worst neighbours, and return what the runs prove.

    It is what ``dpsco audit`` does, with the same numbers. What is None is that of a small scenario
    made for the method, at (1, 0.05)-DP. An audit can refute a claim, and never proves one.

    Parameters
    ----------
    method : str
        Slug of a private method.
    trials : int
        The number of runs on both neighbours of a pair together: even, from 100 to 10,000,000.
    fault : str
        A fault that is planted on purpose: ``"none"``, ``"half-noise"``, ``"no-clipping"`` or
        ``"printed-constant"``.
    confidence : float
        The least probability that a claim that holds is not refuted, from 0.5 to below 1.
    at_delta : float, optional
        Beside `rho`: the delta at which epsilon is claimed, by default 0.05.
    n, d, m : int, optional
        The records (or users), the dimension, and the items of a user.
    epsilon, delta, rho : float, optional
        The budget that is claimed: epsilon with delta, or rho of zCDP.
    seed : int, optional
        The seed of all runs.

    Returns
    -------
    Judged
        ``verdict`` and ``grounds``; ``result`` has ``epsilon_lower_bound`` and
        ``claimed_epsilon``, and ``attack`` the false alarms and misses.

    Raises
    ------
    InvalidInput
        If an argument is not allowed, or the method is not private.
    NotApplicable
        If the method cannot run there, or cannot be broken in this way.

    Examples
    --------
    >>> judged = audit_method("mean.clipped", fault="half-noise", trials=5000)
    >>> judged.verdict, judged.result.epsilon_lower_bound > judged.result.claimed_epsilon
    ('refuted', True)
    """
    values = {"n": n, "d": d, "m": m, "epsilon": epsilon, "delta": delta, "rho": rho, "seed": seed}
    fields = {name: value for name, value in values.items() if value is not None}
    task = audit_task(method, fields | {"trials": trials}, fault, confidence, at_delta).validate()
    *_, result = run_audit(task)  # there is at least one look, at the end
    return judge(result, task.confidence)


def audit_task(
    method: str,
    fields: Mapping[str, Any],  # fields of a scenario; `trials` is the number of runs
    fault: Fault,
    confidence: float,
    at_delta: float | None,
) -> Audit:
    """Return the audit of a method; fields that are left out are those of the method's stage."""
    scenario_fields = {name: value for name, value in fields.items() if name != "trials"}
    start, claim_delta = stage(method), None
    if fault == "printed-constant" and not {"epsilon", "delta", "rho"} & set(scenario_fields):
        start, claim_delta = at_printed_rho(start, FLAW_DELTA)
    return Audit(
        point=Scenario.from_dict({**scenario_fields, "methods": [method]}, start),
        runs=parse("trials", fields.get("trials", RUNS)),
        fault=fault,
        confidence=confidence,
        delta=claim_delta if at_delta is None else at_delta,
    )

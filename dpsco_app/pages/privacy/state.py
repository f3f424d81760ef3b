"""The state of the page Privacy in its controls and its address."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsco_app.front import links
from dpsco_app.parts.fields import ALL_CONTROLS
from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_core.audit.engine import FAULTS, Audit, Fault
from dpsco_core.audit.stages import at_printed_rho, stage
from dpsco_core.base.errors import require
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.base.parsing import one_of, real, whole
from dpsco_core.catalogue import METHODS, method_card, method_class
from dpsco_core.explain.budgets import MOST_RECORDS, Kind, Point
from dpsco_core.scenario import Scenario

PARTS = {
    "ledger": "The ledger of a run",
    "attack": "The attacker",
    "convert": "Convert",
    "compose": "Compose",
    "shuffle": "Shuffle",
    "subsample": "Subsample",
    "audit": "The audit",
}
PRIVATE_SLUGS = tuple(m.card.slug for m in METHODS if m.card.privacy != "none")
# The values that the slider of a field offers.
OPTIONS = {
    "read_at": (1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2),
    "releases": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000),
    "records": (10, 100, 1000, 10_000, 100_000, 1_000_000),
    "batch": (1, 10, 100, 1000, 10_000, 100_000, 1_000_000),
    "claim": (0.2, 0.5, 1, 2, 3),
    "at": (0.001, 0.01, 0.05, 0.1, 0.2),
    "runs": (200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000),
}


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    part: str = checked("ledger", one_of, tuple(PARTS))
    read_at: float = checked(1e-6, real, 1e-12, 0.5)  # The delta at which epsilon is read.
    # The number of equal releases that are composed.
    releases: int = checked(100, whole, 1, OPTIONS["releases"][-1])
    # The number of records that are shuffled, or from which a batch is drawn.
    records: int = checked(10_000, whole, 1, MOST_RECORDS)
    batch: int = checked(100, whole, 1, MOST_RECORDS)
    # The method whose ledger is shown; empty for one that the page chooses.
    method: str = checked("", one_of, ("", *PRIVATE_SLUGS))
    audited: str = checked("mean.clipped", one_of, PRIVATE_SLUGS)  # The method that is audited.
    # The claimed epsilon and delta.
    claim: float = checked(1.0, real, 0.01, 10)
    at: float = checked(0.05, real, 1e-4, 0.3)
    fault: Fault = checked("none", one_of, FAULTS)  # The deliberate fault of the audited method.
    runs: int = checked(20_000, whole, OPTIONS["runs"][0], OPTIONS["runs"][-1])

    def validate(self) -> View:
        """Return the view; raise `InvalidInput` unless the number of runs is even."""
        require(self.runs % 2 == 0, "runs", "even: half of them on each neighbour", self.runs)
        return super().validate()

    def audit(self, seed: int = 0) -> Audit:
        """Return the audit that the view describes, with a seed for its runs.

        A pure method is audited at delta = 0, and a printed constant at the rho of its claim.
        """
        point = replace(stage(self.audited), epsilon=float(self.claim), seed=seed)
        audited_delta: float | None = None
        if method_card(self.audited).privacy != "pure":
            point = replace(point, delta=float(self.at))
            if self.fault == "printed-constant":
                point, audited_delta = at_printed_rho(point, self.at)
        return Audit(point=point, runs=self.runs, fault=self.fault, delta=audited_delta)


def attack_on(view: View, scenario: Scenario) -> Audit:
    """Return the audit whose runs attack the audited method at the budget of a scenario."""
    budget = {name: getattr(scenario, name) for name in ("epsilon", "delta", "rho")}
    point = replace(stage(view.audited), seed=scenario.seed, **budget)
    return Audit(point=point, runs=view.runs, fault=view.fault, looks=False)


def faults_of(view: View) -> list[str]:
    """Return the deliberate faults that the audited method can have, and the chosen one always."""
    stage_of_method = method_class(view.audited).stage
    able = {
        "no-clipping": stage_of_method.clip is not None,
        "printed-constant": stage_of_method.flawed is not None,
    }
    return [fault for fault in FAULTS if able.get(fault, True) or fault == view.fault]


def point_of(view: View, scenario: Scenario) -> Point:
    """Return the budget of a scenario as a point of the calculator.

    The epsilon of a pure or zCDP budget is read at the delta of the view.
    """
    if scenario.rho is not None:
        return Point(kind="zcdp", rho=scenario.rho, delta=view.read_at)
    assert scenario.epsilon is not None
    kind: Kind = "approx" if scenario.delta else "pure"
    return Point(kind=kind, epsilon=scenario.epsilon, delta=scenario.delta or view.read_at)


def private_methods(scenario: Scenario) -> tuple[str, ...]:
    """Return the slugs of a scenario's private methods."""
    return tuple(m for m in scenario.methods if m in PRIVATE_SLUGS)


def ledger_run(scenario: Scenario, method: str) -> Scenario:
    """Return the scenario of one run of a method; raise `InvalidInput` if it is too large."""
    point = replace(scenario, methods=(method,), axis=None, grid=(), trials=1)
    return point.validate(DASHBOARD)


def list_unused_fields(view: View) -> tuple[str, ...]:
    """Return the fields on which the open part does not depend; most parts need only the budget."""
    used_fields = {"audit": {"seed"}, "ledger": set(ALL_CONTROLS)}
    budget = {"epsilon", "delta", "rho"}
    return tuple(field for field in ALL_CONTROLS if field not in used_fields.get(view.part, budget))


STATE = PageState(
    name="privacy",
    default=View(),
    unused_fields=list_unused_fields,
    use=Use(sampling=False, unused_fields=("axis", "grid", "trials")),
)


def privacy_query(scenario: Scenario, method: str) -> dict[str, str]:
    """Return the parameters of the page that show the ledger of a method at a scenario's point."""
    return links.query(scenario) | STATE.to_query(View(part="ledger", method=method))

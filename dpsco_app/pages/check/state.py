"""The controls and the address of Check a claim, and the task that they describe."""

from dataclasses import dataclass, replace
from functools import lru_cache

from dpsco_app.session.scenarios import Use
from dpsco_app.shell.page_state import PageState, PageView, checked
from dpsco_core.base.errors import require
from dpsco_core.base.formula import LONGEST
from dpsco_core.base.parsing import one_of, shorten
from dpsco_core.bounds import Bound
from dpsco_core.catalogue import METHOD_SLUGS, method_card, methods_for
from dpsco_core.referee.claims import Submission, bound_of_formula
from dpsco_core.referee.places import base_place
from dpsco_core.scenario import Scenario

EXAMPLE = "2*sqrt(d/n) + 2*(d/(n*sqrt(rho)))^(1-1/p)"
SECONDS = (5, 20, 60)


def check_length(name: str, value: str) -> None:
    """Raise `InvalidInput` if the text of the field `name` is too long."""
    require(len(value) <= LONGEST, name, f"at most {LONGEST} characters long", shorten(value))


def check_seconds(name: str, value: int) -> None:
    """Raise `InvalidInput` unless the value of a field is one of the offered times."""
    require(value in SECONDS, name, f"one of {', '.join(map(str, SECONDS))}", value)


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    """A claim on the error of a method, as it was typed."""

    # The method whose error is claimed; empty to let the page choose one.
    method: str = checked("", one_of, ("", *METHOD_SLUGS))
    claim: str = checked(EXAMPLE, check_length)  # The formula for the error.
    # Conditions that compare formulas, separated by semicolons.
    hypotheses: str = checked("", check_length)
    rate: bool = False  # Whether the formula omits a constant factor.
    seconds: int = checked(SECONDS[0], check_seconds)  # The seconds for all checks together.


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim that can be checked: formula, conditions, and the scenario whose settings vary."""

    method: str
    formula: str
    hypotheses: tuple[str, ...]
    is_rate: bool
    base: Scenario

    @property
    def bound(self) -> Bound:
        """The bound that the claim states."""
        return bound_of_claim(self)

    @property
    def submission(self) -> Submission:
        """The claim as a submission to the referee."""
        is_private = method_card(self.method).privacy != "none"
        methods = (self.method,) if is_private else ()
        return Submission(methods=methods, bounds=(self.bound,), inequalities=())


@lru_cache(maxsize=100)
def bound_of_claim(claim: Claim) -> Bound:
    """Return a claim as a bound; raise `InvalidInput` if its formula or a condition is wrong."""
    return bound_of_formula(
        claim.formula,
        claim.method,
        claim.base.problem,
        conditions=claim.hypotheses,
        constant="rate" if claim.is_rate else "explicit",
    )


def offered_methods(scenario: Scenario) -> tuple[str, ...]:
    """Return the slugs of the methods for the scenario's problem and level."""
    return methods_for(scenario.problem, scenario.level)


def with_method(view: View, scenario: Scenario) -> View:
    """Return the view with a method that is offered: its own, or the first private one."""
    offered = offered_methods(scenario)
    if view.method in offered:
        return view
    chosen = (m for m in (*scenario.methods, *offered) if m in offered)
    private = (m for m in chosen if method_card(m).privacy != "none")
    return replace(view, method=next(private, offered[0]))


def claim_of(view: View, scenario: Scenario) -> Claim:
    """Return the claim of a view at a scenario; raise `InvalidInput` if it cannot be read."""
    point = replace(scenario, methods=(view.method,), axis=None, grid=(), trials=Scenario().trials)
    claim = Claim(
        method=view.method,
        formula=view.claim.strip(),
        hypotheses=tuple(part.strip() for part in view.hypotheses.split(";") if part.strip()),
        is_rate=view.rate,
        base=base_place(view.method, point),
    )
    bound_of_claim(claim)
    return claim


STATE = PageState(
    name="check",
    default=View(),
    fit_view=with_method,
    use=Use(unused_fields=("methods", "axis", "grid", "trials")),
)

"""DP-SCO Explorer: private estimation on heavy-tailed data, between its upper and lower bounds.

A public name is imported when it is first asked for: `dpsco --help` and whoever needs one part of
the library do not wait for all of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dpsco_core.audit.attacks import Judged
    from dpsco_core.audit.function import FunctionAudit, audit_function
    from dpsco_core.audit.method import audit_method
    from dpsco_core.base.errors import InvalidInput, NotApplicable
    from dpsco_core.base.limits import Limits
    from dpsco_core.base.seeds import fresh_seed
    from dpsco_core.explain.need import Need, need
    from dpsco_core.explain.recipe.budget_answer import BudgetAnswer, budget
    from dpsco_core.plugins import extend
    from dpsco_core.privacy import ZCDP, ApproxDP, Budget, Ledger, PureDP, SharedLedger
    from dpsco_core.problems import Constants, MeanEstimation, Setting
    from dpsco_core.results.release import ArrayRelease, ReleasePlan, plan_release, release
    from dpsco_core.results.slopes import slopes
    from dpsco_core.results.tables import frame, summary
    from dpsco_core.runs.cost import Cost, cost
    from dpsco_core.runs.study import Cell, Outcome, cells, run_cell, study
    from dpsco_core.scenario import Scenario

__version__ = "0.1.0"

# The module of each public name: the imports above as data. A test compares the two.
MODULES = {
    "Judged": "audit.attacks",
    "FunctionAudit": "audit.function",
    "audit_function": "audit.function",
    "audit_method": "audit.method",
    "BudgetAnswer": "explain.recipe.budget_answer",
    "budget": "explain.recipe.budget_answer",
    "Need": "explain.need",
    "need": "explain.need",
    "InvalidInput": "base.errors",
    "NotApplicable": "base.errors",
    "Limits": "base.limits",
    "fresh_seed": "base.seeds",
    "extend": "plugins",
    "ZCDP": "privacy",
    "ApproxDP": "privacy",
    "Budget": "privacy",
    "Ledger": "privacy",
    "PureDP": "privacy",
    "SharedLedger": "privacy",
    "Constants": "problems",
    "MeanEstimation": "problems",
    "Setting": "problems",
    "ArrayRelease": "results.release",
    "ReleasePlan": "results.release",
    "plan_release": "results.release",
    "release": "results.release",
    "slopes": "results.slopes",
    "frame": "results.tables",
    "summary": "results.tables",
    "Cost": "runs.cost",
    "cost": "runs.cost",
    "Cell": "runs.study",
    "Outcome": "runs.study",
    "cells": "runs.study",
    "run_cell": "runs.study",
    "study": "runs.study",
    "Scenario": "scenario",
}

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ArrayRelease",
    "Budget",
    "BudgetAnswer",
    "Cell",
    "Constants",
    "Cost",
    "FunctionAudit",
    "InvalidInput",
    "Judged",
    "Ledger",
    "Limits",
    "MeanEstimation",
    "Need",
    "NotApplicable",
    "Outcome",
    "PureDP",
    "ReleasePlan",
    "Scenario",
    "Setting",
    "SharedLedger",
    "audit_function",
    "audit_method",
    "budget",
    "cells",
    "cost",
    "extend",
    "frame",
    "fresh_seed",
    "need",
    "plan_release",
    "release",
    "run_cell",
    "slopes",
    "study",
    "summary",
]


def __getattr__(name: str) -> Any:
    """Import the module of a public name when the name is first used, and return its value."""
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = f"{__name__}.{MODULES[name]}"
    package = import_module(module)
    # A module is an attribute of its package only after its own import.
    value = getattr(package, name, None) or import_module(f"{module}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of the package, with the public ones that are not imported yet."""
    return sorted({*globals(), *__all__})

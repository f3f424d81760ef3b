"""A private release of one's own arrays: planned from public numbers alone, and in one call."""

from dpsco_core.results.release.answer import WARNING, ArrayRelease, release
from dpsco_core.results.release.arrays import RecordShape
from dpsco_core.results.release.plan import ReleasePlan, plan_release
from dpsco_core.results.release.planned import PlannedRelease, ProvenBound, plan_for
from dpsco_core.results.release.statements import Statements

__all__ = [
    "WARNING",
    "ArrayRelease",
    "PlannedRelease",
    "ProvenBound",
    "RecordShape",
    "ReleasePlan",
    "Statements",
    "plan_for",
    "plan_release",
    "release",
]

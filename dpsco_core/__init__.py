"""DP-SCO Explorer: private estimation on heavy-tailed data, between its upper and lower bounds."""

from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.base.limits import Limits
from dpsco_core.base.seeds import fresh_seed
from dpsco_core.plugins import extend
from dpsco_core.privacy import ZCDP, ApproxDP, Budget, Ledger, PureDP
from dpsco_core.problems import Constants, MeanEstimation, Setting
from dpsco_core.results.slopes import slopes
from dpsco_core.results.tables import frame, summary
from dpsco_core.runs.cost import Cost, cost
from dpsco_core.runs.study import Cell, Outcome, cells, run_cell, study
from dpsco_core.scenario import Scenario

__version__ = "0.1.0"

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Budget",
    "Cell",
    "Constants",
    "Cost",
    "InvalidInput",
    "Ledger",
    "Limits",
    "MeanEstimation",
    "NotApplicable",
    "Outcome",
    "PureDP",
    "Scenario",
    "Setting",
    "cells",
    "cost",
    "extend",
    "frame",
    "fresh_seed",
    "run_cell",
    "slopes",
    "study",
    "summary",
]

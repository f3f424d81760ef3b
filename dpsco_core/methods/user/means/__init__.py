"""Means of people who have several records each."""

from dpsco_core.methods.user.means.adaptive import UserMeanAdaptive
from dpsco_core.methods.user.means.clipped import UserMeanClipped
from dpsco_core.methods.user.means.group import UserMeanGroup

__all__ = ["UserMeanAdaptive", "UserMeanClipped", "UserMeanGroup"]

"""Constraint sets: projection, support, diameter."""

from dpsco_core.geometry.ball import Ball

__all__ = ["Ball"]

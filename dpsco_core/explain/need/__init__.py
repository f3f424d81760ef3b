"""How many records, or how large a privacy budget, a target error takes."""

from dpsco_core.explain.need.search import Need, in_words, need
from dpsco_core.explain.need.units import error_in_units, error_in_words

__all__ = ["Need", "error_in_units", "error_in_words", "in_words", "need"]

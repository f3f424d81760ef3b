"""How many records, or how large a privacy budget, a target error takes."""

from dpsco_core.explain.need.search import Need, need
from dpsco_core.explain.need.words import in_words

__all__ = ["Need", "in_words", "need"]

"""How many records, or how large a privacy budget, a target error takes."""

from dpsco_core.explain.need.search import Need, in_words, need

__all__ = ["Need", "in_words", "need"]

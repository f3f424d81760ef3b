"""The errors and gaps that were found in the five papers, each with what is done instead.

The texts of a paper's errata are in `dpsco_core/words/errata`, their experiments in the module of
its name.
"""

from typing import Any

from dpsco_core.base.cards import ARORA_2020, KAMATH_2022, LOWY_2024, SU_2023, ZHAO_2024
from dpsco_core.base.errors import did_you_mean, require
from dpsco_core.base.parsing import shorten
from dpsco_core.catalogue import METHODS
from dpsco_core.explain.errata import arora_runs, kamath_runs, lowy_runs, su_runs, zhao_runs
from dpsco_core.explain.errata.base import (
    SEVERITIES,
    CheckCommand,
    Erratum,
    Experiment,
    Finding,
    Severity,
    finding_dict,
    read_errata,
)

__all__ = [
    "ERRATA",
    "SEVERITIES",
    "SLUGS",
    "CheckCommand",
    "Erratum",
    "Experiment",
    "Finding",
    "Severity",
    "errata_json",
    "errata_of",
    "erratum",
    "finding_dict",
    "methods_of",
]

ERRATA: tuple[Erratum, ...] = (
    *read_errata("errata/kamath.toml", KAMATH_2022, kamath_runs),
    *read_errata("errata/zhao.toml", ZHAO_2024, zhao_runs),
    *read_errata("errata/su.toml", SU_2023, su_runs),
    *read_errata("errata/arora.toml", ARORA_2020, arora_runs),
    *read_errata("errata/lowy.toml", LOWY_2024, lowy_runs),
)
SLUGS: tuple[str, ...] = tuple(e.slug for e in ERRATA)


def erratum(slug: str) -> Erratum:
    """Return the erratum of a slug; raises `InvalidInput` for an unknown one."""
    if slug not in SLUGS:
        question = did_you_mean(shorten(slug), SLUGS)
        listed = "a slug that `dpsco errata` lists" + f" ({question})" * bool(question)
        require(False, "erratum", listed, shorten(slug))
    return ERRATA[SLUGS.index(slug)]


def errata_of(method: str) -> tuple[Erratum, ...]:
    """Return the deviations of a method's module from its paper, by the method's slug."""
    (module,) = (m.__module__ for m in METHODS if m.card.slug == method)
    return tuple(e for e in ERRATA if module in e.modules)


def methods_of(entry: Erratum) -> tuple[str, ...]:
    """Return the slugs of the methods whose own module an erratum names."""
    return tuple(m.card.slug for m in METHODS if m.__module__ in entry.modules)


def errata_json(*, run: bool = False) -> dict[str, Any]:
    """Return every erratum as plain texts; with `run`, also the result of its experiment."""
    rows = []
    for entry in ERRATA:
        row = entry.to_dict()
        if run and entry.experiment is not None:
            row["finding"] = finding_dict(entry.experiment.run())
        rows.append(row)
    return {"errata": rows}

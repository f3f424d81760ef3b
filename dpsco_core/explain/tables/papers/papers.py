"""The five papers that can be reproduced, and the settings at which most of each one holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpsco_core.base.cards import ARORA_2020, KAMATH_2022, LOWY_2024, SU_2023, ZHAO_2024, Paper
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import one_of, shorten
from dpsco_core.scenario import Scenario

NO_EXPERIMENTS = "The paper has no experiments: everything that is measured here is new."
# The axes of a figure; some figures have the users' items, or the exponent of the norm, last.
TAIL_AXES = ("n", "d", "epsilon", "p")


@dataclass(frozen=True, kw_only=True)
class Section:
    """Statements of one kind, and a setting at which most of them hold and their methods run."""

    title: str
    table: str  # key of the table of statements (`dpsco_core.explain.tables.table`)
    fields: Mapping[str, Any]
    figure: Mapping[str, Any] = field(default_factory=dict)  # the fields that a figure changes
    axes: tuple[str, ...] = TAIL_AXES

    def point(self, changes: Mapping[str, Any]) -> Scenario:
        """Return the setting with the fields that are given; raises `InvalidInput`."""
        return _point_with_changes(self.fields, changes)

    def figure_point(self, changes: Mapping[str, Any]) -> Scenario:
        """Return the setting about which a figure sweeps; raises `InvalidInput`."""
        return _point_with_changes({**self.fields, **self.figure}, changes)


@dataclass(frozen=True, kw_only=True)
class ReproducedPaper:
    """A paper, the name by which the command line asks for it, and its sections."""

    key: str
    paper: Paper
    sections: tuple[Section, ...]

    @property
    def author(self) -> str:
        """The family name of the first author, as other statements quote the paper."""
        return self.paper.key.replace("-", " ").split()[0]

    def section(self, number: int) -> Section:
        """Return a section by its number, from 1; raises `InvalidInput`."""
        count = len(self.sections)
        require(1 <= number <= count, "section", f"an integer from 1 to {count}", number)
        return self.sections[number - 1]


def _point_with_changes(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> Scenario:
    """Return the scenario of some fields and changes, which must not set axes or methods."""
    for name in ("axis", "grid", "methods"):
        if changes.get(name):
            raise InvalidInput(f"{name} must be left out of a paper, which has its own, got one.")
    return Scenario.from_dict(changes, Scenario.from_dict(fields))


_HEAVY = {"distribution": "student-t", "p": 2.0, "epsilon": 0.5, "delta": 1e-6}
_BOUNDED = {"distribution": "hypercube", "n": 100_000, "d": 2, "epsilon": 0.5, "delta": 1e-6}
_USERS = {"distribution": "hypercube", "n": 100_000, "d": 2, "m": 10, "epsilon": 4.0, "delta": 1e-9}
# Linear losses have an error in every trial; on these data, other losses mostly have error 0.
_LINEAR = {"problem": "linear", "n": 50_000, "d": 5, "epsilon": 1.0}
_DRAWN_USERS = {"n": 10_000, "d": 5, "epsilon": 1.0, "delta": 1e-6}


def _section_on_users(title: str, table: str, problem: str, *, drawn: str) -> Section:
    """Return a section on users; the problem of its figure is `drawn`."""
    return Section(
        title=title,
        table=table,
        fields=_USERS | {"problem": problem},
        figure=_DRAWN_USERS | {"problem": drawn},
        axes=("n", "d", "epsilon", "m"),
    )


PAPERS: tuple[ReproducedPaper, ...] = (
    ReproducedPaper(
        key="kamath-2022",
        paper=KAMATH_2022,
        sections=(
            Section(
                title="Mean estimation",
                table="kamath",
                fields=_HEAVY | {"problem": "mean", "n": 100_000, "d": 5},
                figure={"d": 10},
            ),
            Section(
                title="Convex and strongly convex risks, on squared distances",
                table="kamath",
                fields=_HEAVY | {"problem": "quadratic", "n": 100_000, "d": 2},
            ),
        ),
    ),
    ReproducedPaper(
        key="zhao-2024",
        paper=ZHAO_2024,
        sections=(
            Section(
                title="Mean estimation",
                table="zhao",
                fields=_HEAVY | {"problem": "mean", "n": 100_000, "d": 2},
                figure={"d": 5},
            ),
            Section(
                title="Convex risks with Table I, on squared distances",
                table="zhao",
                fields=_HEAVY | {"problem": "quadratic", "n": 200_000, "d": 2},
                figure={"n": 50_000},
            ),
        ),
    ),
    ReproducedPaper(
        key="su-2023",
        paper=SU_2023,
        sections=(
            Section(
                title="Table 1, convex Lipschitz losses in l2",
                table="su-1",
                fields=_BOUNDED | {"problem": "logistic"},
                figure=_LINEAR,
            ),
            Section(
                title="Table 1, strongly convex Lipschitz losses in l2",
                table="su-1",
                fields=_BOUNDED | {"problem": "quadratic"},
            ),
            Section(
                title="Table 2, q below 2",
                table="su-2",
                fields=_BOUNDED | {"problem": "logistic", "geometry": "lq", "q": 1.5},
                figure=_LINEAR,
                axes=("n", "d", "epsilon", "q"),
            ),
            Section(
                title="Table 2, q below 2 and small epsilon",
                table="su-2",
                fields=_BOUNDED
                | {"problem": "logistic", "geometry": "lq", "q": 1.5, "epsilon": 0.015},
                figure=_LINEAR,
                axes=("n", "d", "epsilon", "q"),
            ),
            Section(
                title="Table 2, q of at least 2",
                table="su-2",
                fields=_BOUNDED | {"problem": "logistic", "geometry": "lq", "q": 3.0},
                figure=_LINEAR,
                axes=("n", "d", "epsilon", "q"),
            ),
        ),
    ),
    ReproducedPaper(
        key="arora-2020",
        paper=ARORA_2020,
        sections=(
            Section(
                title="Lipschitz losses, smooth or not",
                table="arora",
                fields=_BOUNDED | {"problem": "logistic", "n": 20_000, "epsilon": 0.01},
                figure=_LINEAR,
            ),
        ),
    ),
    ReproducedPaper(
        key="lowy-2024",
        paper=LOWY_2024,
        sections=(
            _section_on_users("Risks of users", "lowy", "logistic", drawn="linear"),
            _section_on_users(
                "Strongly convex risks of users", "lowy", "quadratic", drawn="quadratic"
            ),
            _section_on_users("Gradients of items", "lowy-gradients", "logistic", drawn="linear"),
            _section_on_users(
                "Gradients of items, strongly convex",
                "lowy-gradients",
                "quadratic",
                drawn="quadratic",
            ),
        ),
    ),
)
PAPER_KEYS = tuple(entry.key for entry in PAPERS)


def reproduced_paper(key: str) -> ReproducedPaper:
    """Return the paper of a key; raises `InvalidInput` for an unknown one.

    Examples
    --------
    >>> reproduced_paper("kamath-2022").paper.venue
    'ICML 2022'
    """
    one_of("paper", shorten(key), PAPER_KEYS)
    return PAPERS[PAPER_KEYS.index(key)]

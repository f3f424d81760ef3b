"""What the front page shows beside the scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from dpsco_app.front.address import Address, PageView, checked
from dpsco_app.front.second import SECONDS, checked_pin
from dpsco_app.parts.options import (
    BOUND,
    CARDS,
    MEASURES,
    NO_SET,
    PANELS,
    SHOW,
    VIEWS,
)
from dpsco_app.parts.shown_bounds import cards
from dpsco_core.base.errors import require
from dpsco_core.base.formula import parse_formulas
from dpsco_core.base.parsing import one_of, shorten
from dpsco_core.catalogue import BOUND_SLUGS
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class View(PageView):
    measure: str = checked(MEASURES[0], one_of, MEASURES)  # The quantity on the vertical axis.
    panel: str = checked(PANELS[0], one_of, PANELS)  # The panels that are drawn.
    against: str = checked(NO_SET, one_of, SECONDS)  # The content of the second panel.
    card: str = checked("", one_of, CARDS)  # The question that is open below the figure.
    show: str = ""  # The bounds beside the window: names in `VIEWS`, separated by commas.
    pin: str = ""  # The scenario that is kept for comparison, as a query of its own.
    # The slug of a bound that is drawn in addition to those of the views; empty for none.
    bound: str = ""
    # The visitor's own bounds: formulas separated by semicolons (see `dpsco_core.base.formula`).
    formula: str = ""

    def validate(self) -> Self:
        """Return the view, its pin in canonical form; raise `InvalidInput` for a wrong value."""
        is_known = {name for name in self.show.split(",") if name} <= set(VIEWS)
        require(is_known, SHOW, f"among {', '.join(VIEWS)}", shorten(self.show))
        one_of(BOUND, self.bound, ("", *BOUND_SLUGS))
        if self.formula:
            parse_formulas(self.formula)
        return replace(super().validate(), pin=checked_pin(self.pin))

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the groups of bounds that the visitor has switched on."""
        return tuple(name for name in self.show.split(",") if name)

    @property
    def formulas(self) -> tuple[str, ...]:
        """The texts of the formulas that the visitor has typed, in order."""
        return tuple(formula.text for formula in parse_formulas(self.formula))

    def named_bound(self, scenario: Scenario) -> str:
        """Return the slug of the chosen bound if it is about the scenario, else an empty text."""
        slugs = {c.slug for c in cards(scenario.problem, scenario.level)}
        return self.bound if self.bound in slugs else ""


ADDRESS = Address(default=View(), lists=(SHOW,))

"""What Explore's controls and address hold beside the scenario."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsco_app.pages.explore.comparison import SETS, checked_pin
from dpsco_app.parts.options import AGAINST, BOUND, NO_SET, PIN, SHOW, SHOWN, TAIL, VIEWS
from dpsco_app.shell.page_state import PageState
from dpsco_app.shell.visit import Use
from dpsco_core.base.errors import require
from dpsco_core.base.formula import parse_formula
from dpsco_core.base.parsing import one_of, shorten
from dpsco_core.catalogue import BOUNDS


@dataclass(frozen=True, kw_only=True)
class View:
    show: str = ",".join(SHOWN)  # the views, of `VIEWS`, separated by commas
    pin: str = ""  # the scenario that is kept to be compared, as a query of its own
    against: str = TAIL  # what is drawn beside: another tail, or a set; no set with a pin
    side: bool = False  # whether both are figures of their own
    bound: str = ""  # slug of a bound that is drawn whatever the views; empty for none
    formula: str = ""  # what is drawn as a bound of one's own: see `dpsco_core.base.formula`

    def validate(self) -> View:
        known = {name for name in self.show.split(",") if name} <= set(VIEWS)
        require(known, SHOW, f"among {', '.join(VIEWS)}", shorten(self.show))
        one_of(AGAINST, self.against, SETS)
        alone = not self.pin or self.against in (NO_SET, TAIL)
        require(alone, AGAINST, f"left out beside {PIN}", self.against)
        one_of(BOUND, self.bound, ("", *(b.card.slug for b in BOUNDS)))
        if self.formula:
            parse_formula(self.formula)
        return replace(self, pin=checked_pin(self.pin))


STATE = PageState(name="explore", default=View(), lists=(SHOW,), prefix="", use=Use())

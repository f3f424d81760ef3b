"""The controls of a scenario's fields, from the table `dpsco_core.fields`."""

from dataclasses import dataclass

from dpsco_core import fields
from dpsco_core.fields.field import Field, Words
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Control:
    """How one field of a scenario is shown."""

    field: str
    known: Field

    @property
    def kind(self) -> str:
        """The widget: a slider, a choice, an integer, or one that the field alone has, its name."""
        if self.known.offered:
            return "slider"
        return {"whole": "integer", "choice": "choice"}.get(self.known.kind, self.field)

    @property
    def label(self) -> Words:
        return self.known.label

    @property
    def help(self) -> Words:
        return self.known.help

    def shown(self, scenario: Scenario) -> bool:
        return self.known.shown(scenario)


def text(words: Words, scenario: Scenario) -> str:
    return words if isinstance(words, str) else words(scenario)


ALL_CONTROLS = tuple(
    Control(field=name, known=known)
    for title in fields.GROUPS
    for name, known in fields.TABLE.items()
    if known.group == title
)
FRONT = tuple(sorted((c for c in ALL_CONTROLS if c.known.front), key=lambda c: c.known.front))
# The last group folds away.
GROUPS = tuple(
    (title, tuple(c for c in ALL_CONTROLS if c.known.group == title))
    for title in fields.GROUPS[:-1]
)

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


def _group(title: str) -> tuple[Control, ...]:
    known = fields.TABLE.items()
    return tuple(Control(field=name, known=e) for name, e in known if e.group == title)


FRONT = tuple(
    sorted(
        (Control(field=name, known=e) for name, e in fields.TABLE.items() if e.front),
        key=lambda control: control.known.front,
    )
)
GROUPS = tuple((title, _group(title)) for title in fields.GROUPS[:-1])
DETAILS = _group(fields.GROUPS[-1])  # folded away
ALL_CONTROLS = tuple(c for _, group in GROUPS for c in group) + DETAILS

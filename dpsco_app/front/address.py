"""The view of a page as parameters of its address, and back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

from dpsco_app.front.links import BASE
from dpsco_core.base.errors import InvalidInput, require
from dpsco_core.base.parsing import shorten, to_text
from dpsco_core.scenario import Scenario

EMPTY_LIST = "none"  # Old addresses have this word for an empty list.


def checked(default: Any, check: Callable[..., None], *allowed: Any) -> Any:
    """Return a dataclass field of a view, with its default and a check of its values.

    The check is called with the field's name, its value and `allowed`; the functions of
    `base.parsing` are such checks.
    """
    return field(default=default, metadata={"check": check, "allowed": allowed})


@dataclass(frozen=True, kw_only=True)
class PageView:
    """The settings of a page: texts, numbers and switches, each with a default."""

    def validate(self) -> Self:
        """Return the view itself; raise `InvalidInput` if a field's check refuses its value."""
        for field_found in fields(self):
            if "check" in field_found.metadata:
                field_found.metadata["check"](
                    field_found.name,
                    getattr(self, field_found.name),
                    *field_found.metadata["allowed"],
                )
        return self


V = TypeVar("V", bound=PageView)


@dataclass(frozen=True, kw_only=True)
class Address(Generic[V]):
    """The conversion between a view and its address, which leaves out values at their defaults."""

    # The view at an address without parameters. Its values also determine the types of the fields.
    default: V
    # The text fields that hold several values separated by commas; their widgets hold lists.
    lists: tuple[str, ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The fields of the view: parameters of the address, and ends of the widgets' keys."""
        return tuple(f.name for f in fields(self.default))

    def from_query(self, query: Mapping[str, str]) -> tuple[V, list[str]]:
        """Return the view of an address, and a sentence for every value that is not allowed.

        A value that is not allowed is replaced by its default.
        """
        view, problems = self.default, []
        for name in (name for name in self.names if name in query):
            try:
                view = replace(view, **{name: self._parsed(name, query[name])}).validate()
            except InvalidInput as problem:
                problems.append(str(problem))
        return view, problems

    def to_query(self, view: V, scenario: Scenario | None = None) -> dict[str, str]:
        """Return the view, and the scenario if given, as parameters of the address.

        Values at their defaults are left out.
        """
        values = {name: getattr(view, name) for name in self.names}
        changed_values = {
            name: ("yes" if value else "no") if isinstance(value, bool) else to_text(value)
            for name, value in values.items()
            if value != getattr(self.default, name)
        }
        return changed_values if scenario is None else scenario.to_query(BASE) | changed_values

    def _parsed(self, name: str, text: str) -> str | int | float | bool:
        """Return the value of a field from its text; raise `InvalidInput` if the type is wrong."""
        kind = type(getattr(self.default, name))
        if kind is str:
            return "" if text == EMPTY_LIST and name in self.lists else text
        if kind is bool:
            require(text in ("yes", "no"), name, "yes or no", shorten(text))
            return text == "yes"
        try:
            number: int | float = kind(text)
        except ValueError:
            kind_words = "an integer" if kind is int else "a number"
            raise InvalidInput(
                f"{name} must be {kind_words}, got {name}={shorten(text)}."
            ) from None
        return number

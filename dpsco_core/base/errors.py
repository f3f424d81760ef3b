"""The errors of the library, each with a message of one sentence."""

from collections.abc import Sequence
from difflib import get_close_matches


class InvalidInput(ValueError):
    """A value from outside is not allowed: "NAME must be CONDITION, got NAME=VALUE."."""


class NotApplicable(Exception):
    """A method cannot run at a setting.

    Parameters
    ----------
    reason : str
        One sentence that names the obstacle.
    otherwise : str, optional
        Another remedy, which the message names after `change`, such as ``"raise epsilon"``.
    nearest : str, optional
        The nearest remedy in words, such as ``"set delta=1e-06"``, if `change` does not give it.
    changes : tuple of (str, value) pairs, optional
        The nearest remedy as scenario fields with new values, for a page that offers it as a
        button; the field ``"method"`` replaces this method by another.
    change : value
        At most one scenario field as a keyword, with the value that would let the method run; the
        message says it in words.
    """

    def __init__(
        self,
        reason: str,
        *,
        otherwise: str = "",
        nearest: str = "",
        changes: tuple[tuple[str, float | str | None], ...] = (),
        **change: float | str,
    ) -> None:
        """Make the error with its reason, and with the nearest change by which the method runs."""
        assert len(change) <= 1 and not (change and nearest) and (change or not otherwise)
        for name, value in change.items():
            text = f"{value:g}" if isinstance(value, float) else str(value)
            nearest = CHANGE_WORDS.get(name, f"set {name}=") + text
            nearest += f", or {otherwise}" if otherwise else ""
        super().__init__(f"{reason} Nearest: {nearest}." if nearest else reason)
        self.reason, self.nearest, self.changes = reason, nearest, (*changes, *change.items())

    def or_method(self, slugs: tuple[str, ...]) -> "NotApplicable":
        """Return the same refusal with the names of methods that could run instead."""
        names = f"{', '.join(slugs[:-1])} or {slugs[-1]}" if slugs[1:] else slugs[0]
        prefix = f"{self.nearest}, or " if self.nearest else ""
        return NotApplicable(self.reason, nearest=f"{prefix}choose {names}", changes=self.changes)


class CodeFailed(InvalidInput, NotApplicable):
    """Plugin code (`dpsco_core.plugins.extend`) raised an error, or returned something invalid.

    It is both bad input and a method that cannot run, so that every page that shows either shows
    it.
    """

    def __init__(self, sentence: str) -> None:
        """Make the error with a sentence that names the failed code."""
        NotApplicable.__init__(self, sentence)


# The first words of a suggestion to change a field whose value is a name.
CHANGE_WORDS = {
    "distribution": "choose the distribution ",
    "problem": "choose the problem ",
    "method": "choose ",
}


def did_you_mean(value: str, allowed: Sequence[str]) -> str:
    """Return the question for the allowed names that are nearest to a wrong one; empty if none is.

    Examples
    --------
    >>> did_you_mean("lognormal", ["student-t", "log-normal", "gaussian"])
    'did you mean log-normal?'
    >>> did_you_mean("cauchy", ["student-t", "log-normal", "gaussian"])
    ''
    """
    closest = get_close_matches(value.strip().lower(), allowed, n=2, cutoff=0.65)
    return f"did you mean {' or '.join(closest)}?" if closest else ""


def require(condition: bool, name: str, must_be: str, value: object) -> None:
    """Raise `InvalidInput`, in the project's one wording, unless `condition` holds.

    Examples
    --------
    >>> require(0 > 1, "n", "a positive integer", 0)
    Traceback (most recent call last):
    ...
    dpsco_core.base.errors.InvalidInput: n must be a positive integer, got n=0.
    """
    if not condition:
        raise InvalidInput(f"{name} must be {must_be}, got {name}={value}.")

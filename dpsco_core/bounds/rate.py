"""A rate whose constants are hidden, declared once: value, LaTeX and letters follow from it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dpsco_core.base.cards import BoundCard
from dpsco_core.base.errors import require
from dpsco_core.base.formula import Formula, parse_formula
from dpsco_core.base.formula_latex import LETTERS_IN_LATEX, latex_of
from dpsco_core.bounds.base import Bound, Hypothesis, Letter, Terms, bound_like
from dpsco_core.bounds.letters import COMMON
from dpsco_core.privacy.budget import ApproxDP
from dpsco_core.problems.base import Setting

_NAMES = {latex: name for name, latex in LETTERS_IN_LATEX.items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class Rate:
    r"""A rate as a sum or maximum of formulas, with all hidden constants taken as 1.

    The formulas are in the language of `dpsco_core.base.formula`. A rate is called with a `Setting`
    and returns its terms by name. All are `void` if the statement does not cover the setting, or if
    a letter or a term has no finite value there.

    Examples
    --------
    >>> from dpsco_core.scenario import Scenario
    >>> rate = Rate(terms={"sampling": "sqrt(d/n)", "privacy": "d/(sqrt(rho)*n)"})
    >>> rate.latex
    '\\sqrt{\\frac dn}+\\frac d{\\sqrt\\rho\\,n}'
    >>> rate(Scenario(n=400, d=4, rho=0.25).setting)
    {'sampling': 0.1, 'privacy': 0.02}
    """

    terms: Mapping[str, str]  # the formula of each term, by the term's name
    unit: str = ""  # the formula of a factor in front of all terms; if empty, the factor is 1
    # This function returns a factor in front of all terms that the formula does not show: the
    # papers measure in units of the moment.
    scale: Callable[[Setting], float] = lambda _: 1.0
    # These letters have another meaning than in `COMMON`.
    letters: tuple[Letter, ...] = ()
    # This function combines the terms into the rate; it is a sum or `max`.
    combine: Callable[[tuple[float, ...]], float] = math.fsum
    # This function says whether the statement covers a setting.
    applies: Callable[[Setting], bool] = lambda _: True
    void: float = math.inf  # each term's value where the rate is undefined; 0 for a lower bound

    def __call__(self, setting: Setting) -> Terms:
        """Return the values of the rate's terms at a setting, by their names."""
        void = dict.fromkeys(self.terms, self.void)
        if not self.applies(setting):
            return void
        letters = {name: float(self._vocabulary[name].value(setting)) for name in self._names}
        scale = self.scale(setting)
        terms = {name: scale * formula.value(letters) for name, formula in self._formulas.items()}
        lacks_letter = any(map(math.isnan, letters.values()))
        return void if lacks_letter or not all(map(math.isfinite, terms.values())) else terms

    @property
    def latex(self) -> str:
        """The formula in LaTeX, with the definitions of its letters."""
        return ",\\ ".join((self.formula, *self.definitions))

    @property
    def formula(self) -> str:
        """The LaTeX of the whole rate: the unit times the sum or the maximum of the terms."""
        return latex_of(self._whole.expression)

    @property
    def definitions(self) -> tuple[str, ...]:
        """The definitions of the letters in the formula, in LaTeX."""
        letters = (letter for name, letter in self._vocabulary.items() if name in self._names)
        return tuple(letter.definition for letter in letters if letter.definition)

    def drop(self, part: str) -> "Rate":
        """Return the rate with `part` removed from every term that has it.

        A part is a text such as ``"*ln(1/delta)"``. Raises `InvalidInput` if no term has it.
        """
        terms = {name: text.replace(part, "") for name, text in self.terms.items()}
        require(terms != self.terms, "part", "one of the rate's", part)
        return replace(self, terms=terms)

    @cached_property
    def _vocabulary(self) -> dict[str, Letter]:
        """All letters that a formula of this rate may use, by their names in formulas."""
        return {_NAMES.get(e.token, e.token): e for e in (*COMMON, *self.letters)}

    @cached_property
    def _whole(self) -> Formula:
        """The formula of the rate: the unit, times the sum or the maximum of the terms."""
        texts = [text for text in self.terms.values() if text != "0"]
        if self.combine is max:
            return self._parse(self._in_units(f"max({', '.join(texts)})"))
        if len(texts) > 1 and len(set(texts)) == 1:
            return self._parse(f"{len(texts)}*{self._in_units(texts[0])}")
        return self._parse(self._in_units(" + ".join(texts)))

    @property
    def _names(self) -> tuple[str, ...]:
        """The names of the letters in the formula."""
        return self._whole.letters

    @cached_property
    def _formulas(self) -> dict[str, Formula]:
        """The parsed formula of each term, times the unit, by the term's name."""
        return {name: self._parse(self._in_units(text)) for name, text in self.terms.items()}

    def _in_units(self, text: str) -> str:
        """Return the text of a formula times the unit."""
        return f"{self.unit}*({text})" if self.unit else text

    def _parse(self, text: str) -> Formula:
        """Return the formula that a text stands for, in the letters of the rate."""
        return parse_formula(text, {name: name for name in self._vocabulary})


def is_approximate(setting: Setting) -> bool:
    """Whether the budget is an (epsilon, delta) one."""
    return isinstance(setting.budget, ApproxDP)


def two_terms(sampling: str, privacy: str, **fields: Any) -> Rate:
    """Return a rate with one term for sampling and one for privacy; `fields` go to `Rate`."""
    return Rate(terms={"sampling": sampling, "privacy": privacy}, **fields)


def bound_at_rate(
    card: BoundCard,
    rate: Rate,
    hypotheses: tuple[Hypothesis, ...],
    # further arguments of `bound_like`: `optimal`, or fields of the card that change
    **changes: Any,
) -> Bound:
    """Return the bound with the formula, LaTeX and letters of `rate`, and a changed `card`."""
    return bound_like(
        card,
        evaluate=rate,
        combine=rate.combine,
        hypotheses=hypotheses,
        letters=rate.letters,
        latex=rate.latex,
        **changes,
    )

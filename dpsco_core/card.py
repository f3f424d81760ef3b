"""What every entry of the catalogue says about itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Privacy = Literal["none", "pure", "zcdp", "approx"]
Quantity = Literal["l2 error", "squared l2 error"]


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper: `key` in short form, `title`, `authors`, `year`, `venue`."""

    key: str
    title: str
    authors: str
    year: int
    venue: str

    def __str__(self) -> str:
        return self.key


KAMATH_2022 = Paper(
    key="Kamath-Liu-Zhang 2022",
    title="Improved Rates for Differentially Private Stochastic Convex Optimization "
    "with Heavy-Tailed Data",
    authors="Gautam Kamath, Xingtu Liu, Huanyu Zhang",
    year=2022,
    venue="ICML 2022",
)
ZHAO_2024 = Paper(
    key="Zhao et al. 2024",
    title="Differential Private Stochastic Optimization with Heavy-tailed Data: "
    "Towards Optimal Rates",
    authors="Puning Zhao, Jiafei Wu, Zhe Liu, Chong Wang, Rongfei Fan, Qingming Li",
    year=2024,
    venue="preprint",
)
FOLKLORE = Paper(
    key="Classical",
    title="Textbook results without privacy",
    authors="",
    year=0,
    venue="",
)
KAMATH_SINGHAL_ULLMAN_2020 = Paper(
    key="Kamath-Singhal-Ullman 2020",
    title="Private Mean Estimation of Heavy-Tailed Distributions",
    authors="Gautam Kamath, Vikrant Singhal, Jonathan Ullman",
    year=2020,
    venue="COLT 2020",
)


@dataclass(frozen=True, kw_only=True)
class Card:
    """The catalogue's row for a problem or a distribution, and the base of the other cards.

    Parameters
    ----------
    slug : str
        The fixed name that scenarios, URLs and the command line use.
    name : str
        The name that people read.
    paper : Paper
        Where it is from.
    statement : str
        The statement's number in that paper, such as ``"Algorithm 2, Theorem 2"``.
    summary : str
        One sentence for a reader who does not know the paper.
    """

    slug: str
    name: str
    paper: Paper
    statement: str
    summary: str


@dataclass(frozen=True, kw_only=True)
class MethodCard(Card):
    """The catalogue's row for a method.

    Parameters
    ----------
    privacy : {"none", "pure", "zcdp"}
        The notion in which the method is private of itself. A zCDP method also serves an
        (epsilon, delta) budget; under a pure budget only ``"pure"`` methods run.
    geometry : str
        ``"l2"`` or another norm.
    level : {"item", "user"}
        What a neighbour replaces.
    problems : tuple of str
        Slugs of the problems that it solves.
    rate : str
        Slug of the upper bound whose exponents predict its slope; empty if there is none.
    caveat : str
        What a reader must know before trusting it; empty if nothing.
    """

    privacy: Privacy
    geometry: str = "l2"
    level: Literal["item", "user"] = "item"
    problems: tuple[str, ...] = ("mean",)
    rate: str = ""
    caveat: str = ""


@dataclass(frozen=True, kw_only=True)
class BoundCard(Card):
    r"""The catalogue's row for a bound.

    Parameters
    ----------
    kind : {"upper", "lower"}
    quantity : str
        What is bounded. Only like is compared with like.
    constant : {"explicit", "rate"}
        ``"explicit"``: every constant is proven. ``"rate"``: constants (and logarithms, where
        the summary says so) are hidden, and the value is the expression with constant 1.
    guarantee : {"expectation", "probability 0.9", "probability 0.95"}
        In which sense the bound holds.
    latex : str
        The formula.
    privacy : {"none", "pure", "zcdp", "approx"}
        Upper bounds: the notion that the method guarantees. Lower bounds: the class of
        algorithms that it binds; ``"none"`` binds every algorithm.
    method : str
        Slug of the method that attains an upper bound; empty for lower bounds.
    instance : str
        Slug of the distribution on which a lower bound binds; empty if the catalogue has none.
    problem : str
        Slug of the problem.
    """

    kind: Literal["upper", "lower"]
    quantity: Quantity = "l2 error"
    constant: Literal["explicit", "rate"]
    guarantee: Literal["expectation", "probability 0.9", "probability 0.95"] = "expectation"
    latex: str
    privacy: Privacy
    method: str = ""
    instance: str = ""
    problem: str = "mean"

r"""Private lower bounds for linear losses on sets other than the l2 ball, each with its instance.

The instance hides a corner on the l1 ball and the simplices, a block of signs on groups and sparse
vectors, and all signs on l_q balls with 1 < q < 2 (theory/bounds-everywhere.md, 2.3 to 2.6). On l_q
balls with q >= 2 and on the cube the bounds for the l2 ball hold (Lemma T of that page). The class
is that of `dpsco_core.bounds.euclidean.lower_spikes`: laws with bounded moments of the coordinates
and mean gradients within R. If a setting fixes ``spike_probability``, a bound is evaluated at that
probability.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dpsco_core.base.cards import OWN, Proof
from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.base import Bound, Hypothesis, Letter
from dpsco_core.bounds.euclidean.lower_spikes import (
    mean_cap,
    region_of_means,
    risk_bound,
    risk_card,
)
from dpsco_core.bounds.instances.level import level_at
from dpsco_core.bounds.instances.prior import APPROXIMATE_BUDGET, SHRUNK, prior_within
from dpsco_core.bounds.instances.sets import blocks_of, corners_of, lq_signs_of
from dpsco_core.bounds.instances.spikes import largest_probability
from dpsco_core.bounds.instances.words import Argument, WordPrior, best, words_bound
from dpsco_core.bounds.letters import BINOMIAL, SCALE
from dpsco_core.bounds.lq.conditions import on_words, words_in
from dpsco_core.geometry.base import ConstraintSet
from dpsco_core.problems.base import Setting

WordsOf = Callable[[ConstraintSet], WordPrior | None]


def _value_on_words(
    words_of: WordsOf, argument: Argument, setting: Setting, _: Form, cap: float
) -> float:
    """Return the lower bound over a set's hidden words, for moments of 1 and a set of size 1.

    It is 0 if the set has no such words or the budget does not fit the argument.
    """
    words = words_in(setting, words_of)
    level = level_at(setting, "approx" if argument == "approx" else "zcdp")
    if words is None or level is None:
        return 0.0
    n, order, q = setting.n, setting.moment_order, setting.spike_probability
    if q is None:
        largest = largest_probability(words.weight, order, cap)
        if largest == 0:
            return 0.0
        q = best(words, argument, n, order, level, largest)
    return words_bound(words, argument, q, n, order, level)


def _condition_on_class(words_of: WordsOf) -> Hypothesis:
    """Return the condition that words at the setting's spike probability are in the class of laws.

    It holds if the setting fixes no spike probability.
    """

    def largest(words: WordPrior, _: int, order: float, bound: float) -> float:
        """Return the largest spike probability at which the words' means have norm `bound`."""
        return largest_probability(words.weight, order, bound)

    def check(setting: Setting) -> str:
        """Return the reason why the words are not in the class; empty if they are."""
        words = words_in(setting, words_of)
        if words is None:
            return ""
        cap: Callable[[Setting], float] = partial(mean_cap, strong=False)
        return prior_within(partial(largest, words), cap, region_of_means(False)).check(setting)

    return Hypothesis(text=f"the prior's means are within {region_of_means(False)}", check=check)


@dataclass(frozen=True)
class _Sets:
    """The sets that have hidden words of one kind, and the texts of the cards of their bounds."""

    words_of: WordsOf  # the function that returns the words of a set, or None
    name: str  # ends the slugs of the bounds
    title: str  # the words for these sets in the bounds' names
    description: str  # the words for these sets in sentences
    statement: str  # the statement of the bounds for zCDP
    approximate: str  # the statement of the bound for (epsilon, delta) algorithms
    instance: str  # the slug of the hard instance
    loss: str  # the loss of an answer, in LaTeX
    fano: str  # the loss that remains by Fano's inequality, in LaTeX
    left: str  # the loss that remains for every (epsilon, delta) algorithm, in LaTeX
    # The cards of the bounds by two-sided information, by Fano's inequality and by group privacy
    # have these summaries.
    summaries: tuple[str, str, str]
    letters: tuple[Letter, ...]
    fano_proof: Proof = "fano over words"


_SPIKED = (SCALE, Letter("B", "number of spiked records, at random"))
_WORDS = (*_SPIKED, Letter("N", "number of words"), Letter("V", "secret word, each equally likely"))
_LINES = (
    Letter("H", "height of a line, over all answers"),
    Letter(r"\beta", "price of a unit of loss, the best one"),
    Letter("c", "level of an answer, the best one"),
    Letter("f", ""),
    Letter(r"\ell", "loss of an answer"),
    Letter("x", "likelihood ratio"),
    Letter("y", "any answer"),
)
_CHANCE = (
    Letter("X", "largest chance that the answer is right"),
    Letter("x", "a chance"),
    Letter("g", "share of the words"),
    Letter(r"\kappa", "what the output may tell"),
    Letter("L", "what there is to be learnt about that"),
)
_GROUPS = (
    Letter("h", "largest chance that the answer is right"),
    Letter("A", "largest ratio of chances for b records"),
    Letter(r"\delta_b", "failure probability for b records"),
)
_TWO_SIDED_WORDS = (
    r"\,E\Big[\max_\beta\frac{H-\rho B^2(1-1/N)}\beta\Big]_+,\ "
    + BINOMIAL
    + r",\ H=\min_y\max_c\big[c-E\,f^*(c-\beta\ell_y(V))\big],\ f(x)=(x-1)\ln x,\ "
)
_FANO_WORDS = (
    ",\\ "
    + BINOMIAL
    + r",\ X(\kappa,g)=\min\big\{\max\{x:(x-g)\ln\tfrac{x(1-g)}{g(1-x)}\le\kappa(1-\tfrac1N)"
    r"\},\ e^{-(\sqrt{\ln1/g}-\sqrt\kappa)_+^2}\big\}"
)
_POWERS = r",\ A=e^{\varepsilon B},\ \delta_B=\delta\frac{A-1}{e^\varepsilon-1},\ " + BINOMIAL
_CORNERS = _Sets(
    words_of=corners_of,
    name="corners",
    title="corners",
    description="the l1 ball and the simplices",
    statement="Theorem 1 of docs/theory/bounds-everywhere.md, 2.4, with Lemma J",
    approximate="docs/theory/bounds-everywhere.md, 2.6, corners",
    instance="corners",
    loss=r"\ell_y(V)=\max_{\|w\|_1\le1}\langle w,V\rangle-\langle y,V\rangle",
    fano=r"k\,E\big[1-X(\rho B^2,\tfrac1N)\big],\ k\in\{1,2\}" + _FANO_WORDS,
    left=r"k\,E[1-h]_+,\ k\in\{1,2\},\ h=\frac{A+(N-1)\delta_B}{A+N-1}" + _POWERS,
    summaries=(
        "Which corner of the set is the best one? Privacy bounds how far two outputs' laws "
        "differ in both directions, and the output tells little of a hidden corner.",
        "Fano's argument at the corners of the set: a private output makes it little more likely "
        "that the best one of N corners is named, by divergences of all orders.",
        "Which corner of the set is the best one? The outputs of any two words are close, and no "
        "answer names the right corner often.",
    ),
    letters=(Letter("k", "loss of a wrong corner: 1 on the l1 ball, 2 on a simplex"),),
)
_BLOCKS = _Sets(
    words_of=blocks_of,
    name="blocks",
    title="blocks",
    description="groups and sparse vectors",
    statement="Theorem 1 of docs/theory/bounds-everywhere.md, 2.5, with Lemmas J and T",
    approximate="docs/theory/bounds-everywhere.md, 2.6, blocks",
    instance="blocks",
    loss=r"\ell_y(V)=\sqrt5-\langle y,V\rangle",
    fano=r"E\int_0^{\sqrt5}\big(1-X(\rho B^2,G(t))\big)dt,\ "
    r"G(t)=\min_{0\le s<x}\frac{5E(W-s)_+^3}{d(x-s)^3},\ x=\sqrt5-t" + _FANO_WORDS,
    left=r"E\max_e\big\{(\sqrt5-e)\big(1-\delta_B(1+\tfrac{\sqrt5}e)\big)_+:"
    r"(A-1)E(\langle y,V\rangle-e)_+\le e\text{ for all }y\big\}" + _POWERS,
    summaries=(
        "Which block of five coordinates moves, and with which signs? Privacy bounds how far two "
        "outputs' laws differ in both directions.",
        "Fano's argument by distance, on blocks of five coordinates: few words are near any "
        "answer, and a private output makes it little more likely that the secret one is.",
        "Which block of five coordinates moves, and with which signs? The outputs of any two "
        "words are close, and no answer is near most of them.",
    ),
    letters=(
        Letter("t", "loss of an answer"),
        Letter("G", "largest share of all words within t of an answer"),
        Letter("W", "sum of five fair signs, in standard deviations"),
        Letter("s", "level of the cubic bound, the best one"),
        Letter("e", "product with an answer that counts, the best one"),
    ),
)
_SIGNS = _Sets(
    words_of=lq_signs_of,
    name="lq",
    title="signs on an lq ball",
    description="lq balls with 1 < q < 2",
    statement="docs/theory/bounds-everywhere.md, 2.3, with Theorem 1",
    approximate="docs/theory/bounds-everywhere.md, 2.6, signs",
    instance="hypercube",
    fano_proof="fano by distance",
    loss=r"\ell_y(V)=\sqrt d-\langle y,V\rangle,\ \|y\|_2\le1",
    fano=r"E\big[d^{1/q'}-(\sqrt d-L)^{2/q'}\big],\ L=\int_0^{\sqrt d}"
    r"\big(1-X(\rho B^2,G(t))\big)dt,\ G(t)=\min_{s<x}\frac{E(W-s)_+^3}{(x-s)^3},\ x=\sqrt d-t"
    + _FANO_WORDS,
    left=r"E\big[d^{1/q'}-(\sqrt d-T_B)^{2/q'}\big],\ T_b=\max\big\{(\sqrt d-e)"
    r"(1-\delta_b\chi)_+:(A-1)E(\langle y,V\rangle-e)_+\le e\text{ for all }y\big\}" + _POWERS,
    summaries=(
        "All signs, on an lq ball: the loss that privacy leaves on the l2 ball, carried over.",
        "Fano's argument by distance for all signs, carried over from the l2 ball.",
        "All signs, on an lq ball: the loss that group privacy leaves on the l2 ball, carried "
        "over.",
    ),
    letters=(
        Letter("q'", "dual exponent of the ball's"),
        Letter("L", "loss that is left on the l2 ball"),
        Letter("T", "loss that b spikes leave on the l2 ball"),
        Letter("t", "loss of an answer"),
        Letter("G", "largest share of all sign patterns within t of an answer"),
        Letter("W", "sum of d fair signs, in standard deviations"),
        Letter("s", "level of the cubic bound, the best one"),
        Letter("e", "product with an answer that counts, the best one"),
        Letter(r"\chi", "what a failure costs"),
    ),
)
_TWO_SIDED_LQ = (
    r"\,E\big[d^{1/q'}-(\sqrt d-L)^{2/q'}\big],\ L=\Big[\max_\beta"
    r"\frac{H-\rho B^2(1-1/N)}\beta\Big]_+,\ "
    + BINOMIAL
    + r",\ H=\min_y\max_c\big[c-E\,f^*(c-\beta\ell_y(V))\big],\ f(x)=(x-1)\ln x,\ "
)


def _rows_of_sets(sets: _Sets) -> tuple[Bound, ...]:
    """Return the three lower bounds for sets with words of one kind: one for each proof."""
    unit = r"\frac{gM}2\max_ss^{1-1/p}" if sets is _SIGNS else r"\frac{gM}2\max_qq^{1-1/p}"
    two_sided, fano, groups = sets.summaries
    two_sided_latex = _TWO_SIDED_LQ if sets is _SIGNS else _TWO_SIDED_WORDS
    latex = {
        "two-sided": two_sided_latex + sets.loss,
        "fano": sets.fano,
        "approx": sets.left,
    }
    # On l_q balls q is the exponent, so that the spike probability is called s.
    if sets is _SIGNS:
        latex = {k: v.replace(BINOMIAL, BINOMIAL.replace("q", "s")) for k, v in latex.items()}
    rows: tuple[tuple[Argument, str, str, str, str, tuple[Letter, ...]], ...] = (
        ("fano", f"fano-{sets.name}-cdp", f"CDP Fano, {sets.title}", sets.statement, fano, _CHANCE),
        (
            "two-sided",
            f"two-sided-{sets.name}-cdp",
            f"CDP two-sided information, {sets.title}",
            sets.statement,
            two_sided,
            _LINES,
        ),
        (
            "approx",
            f"approx-{sets.name}",
            f"{sets.title}, every (ε, δ)",
            sets.approximate,
            groups,
            _GROUPS,
        ),
    )
    return tuple(
        _make_row(sets, argument, name, title, statement, summary, unit + latex[argument], letters)
        for argument, name, title, statement, summary, letters in rows
    )


def _proof_of(sets: _Sets, argument: Argument) -> Proof:
    """Return the kind of proof, as a card names it, of an argument on sets of one kind."""
    if argument == "fano":
        return sets.fano_proof
    return "packing" if argument == "approx" else "two-sided information"


def _make_row(
    sets: _Sets,
    argument: Argument,
    name: str,
    title: str,
    statement: str,
    summary: str,
    latex: str,
    letters: tuple[Letter, ...],
) -> Bound:
    """Return the catalogue's lower bound by one proof on sets with words of one kind."""
    card = risk_card(
        name,
        title,
        statement.replace("Theorem 1", "Theorem 2") if argument == "fano" else statement,
        summary,
        latex,
        "approx" if argument == "approx" else "zcdp",
        strong=False,
        instance=sets.instance,
        paper=OWN,
        geometry="lq",
        proof=_proof_of(sets, argument),
        is_fano=argument == "fano",
        infinite_variance=SHRUNK,
        binds_all=True,
    )
    return risk_bound(
        card,
        partial(_value_on_words, sets.words_of, argument),
        *((APPROXIMATE_BUDGET,) if argument == "approx" else ()),
        _condition_on_class(sets.words_of),
        letters=_all_letters(sets, letters),
        on_set=on_words(sets.words_of, sets.description),
    )


def _all_letters(sets: _Sets, letters: tuple[Letter, ...]) -> tuple[Letter, ...]:
    """Return the letters of a formula: common ones, then the argument's, then the sets' own.

    If two letters have one token, the later one replaces the earlier.
    """
    letters_by_token = {letter.token: letter for letter in (*_WORDS, *letters)}
    return tuple((letters_by_token | {letter.token: letter for letter in sets.letters}).values())


WORD_RISKS: tuple[Bound, ...] = tuple(
    row for sets in (_CORNERS, _BLOCKS, _SIGNS) for row in _rows_of_sets(sets)
)

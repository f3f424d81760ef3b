"""The glossary at the foot of every page, with a plain sentence for every symbol and term."""

from collections.abc import Iterator
from typing import NamedTuple

import streamlit as st

from dpsco_core.fields import TABLE

# Each entry: symbol | symbol in formulas | name | field of a scenario, then its meaning. Letters of
# fields are in the table of fields.
SIGNS = r"""
q′ | q' | dual exponent |
  q/(q − 1), the norm in which gradients are measured.
Δ | \Delta | sensitivity, or a constant of the set |
  How far one person's data can move a release; in objective perturbation, the constant of the
  added quadratic.
L | L | Lipschitz constant |
  The largest length that a gradient can have.
β | \beta | smoothness, or failure probability |
  How fast gradients can change along a step; in bounds that hold with high probability, how
  often they may fail.
λ | \lambda | strong convexity |
  How strongly a loss curves upwards everywhere; in truncated mirror descent, the level at which
  gradients are cut.
μ | \mu | strong convexity, or a mean |
  How strongly a loss curves upwards, or the true mean of the data.
κ | \kappa | condition number |
  Smoothness in units of the other constants: large means slow optimisation; in geometry, the
  regularity of a norm.
M | M | moment, or radius |
  What bounds the p-th moment of a coordinate, which is 1 here; in optimisation, the radius of
  the constraint set.
R | R | radius |
  Of clipping, of the set that holds the mean, or the diameter of the parameters' set at user
  level; the text beside says which.
G | G | Gaussian width, or a gradient bound |
  How far a set reaches in a random direction on average, or a bound on the mean gradient.
ν | \nu | hidden signs |
  The secret of a lower bound: one pattern of signs of many, each equally likely.
χ | \chi | cost of a failure |
  How much of a lower bound a failure with probability δ takes away.
σ | \sigma | noise scale |
  The standard deviation of the noise, or of a gradient.
τ | \tau | clip or truncation level |
  How long a contribution may be before it is cut; at user level, the radius in which users
  agree.
Λ | \Lambda | logarithm of a confidence |
  A logarithm that a high-probability bound pays.
C | C | constraint set | geometry
  The convex set in which the parameter must lie.
W | W | sum of signs |
  A sum of independent fair signs, one a coordinate, in standard deviations.
w | w | parameter |
  What an optimiser chooses: a point of the constraint set; in packings, how many coordinates
  are not zero.
ξ | \xi | random direction |
  A standard normal vector, or the noise itself.
g | g | gradient, or the noise multiplier |
  The direction in which the loss rises fastest; with ε and δ behind it, how much noise a unit
  of sensitivity needs.
F | F | population risk, or a distribution function |
  The expected loss on fresh data; in lower bounds, the distribution function that the formula
  names.
X | X | a record |
  One draw from the distribution of the data.
u | u | shape of a prior |
  How close to 0 the hidden biases of the tracing instance are: 2 is uniform, more is closer.
A | A | what there is to be learnt |
  In bounds by tracing, how uncertain the biases are before the data, less what δ may reveal.
y | y | point, or a share |
  A point that is guessed, or the share of the biases' norm that an output can follow.
x | x | point |
  A point before it is projected, or the argument of a function.
T | T | steps |
  How many steps an algorithm takes.
K, k, l | K | phases or groups |
  How many phases an algorithm has, or groups the records are split into.
k | k | groups, or the rank of a Hessian |
  How many groups the records are split into; in objective perturbation, the rank of one
  record's second derivative.
l | l | last phase |
  The number of the last phase.
i | i | index |
  Counts phases or terms of a sum.
j | j | index of a coordinate |
  Counts coordinates.
η | \eta | step size |
  How far a step goes along the gradient.
ψ | \psi | squared bias of a coordinate |
  The most that clipping can shift one coordinate's mean, squared, as a function of where that mean
  is.
α | \alpha | order, or optimisation error |
  The order of a Rényi divergence; in objective perturbation, how exactly the minimiser is
  found.
b | b | records in a block |
  How many records one median's block holds.
B | B | number of spikes, or a bias |
  How many records carry a spike; in upper bounds, what clipping takes off the mean gradient.
P, Q | P | two distributions |
  Two laws of the data that are hard to tell apart; as P(B), the probability of a bad event.
Q | Q | the other distribution |
  The second of two laws that are hard to tell apart.
N | N | packing size |
  How many well separated parameters a lower bound hides one among.
V | V | variance, or total variation |
  The energy of gradients and noise in a step; in lower bounds, how well two laws can be told
  apart.
S | S | spread of the gradient oracle |
  How far a mean gradient is from the truth, or a bound on the noise's energy.
v | v | second moment of a coordinate |
  Variance plus squared mean.
c | c | effect of noise a record |
  The noise of a release in units of one record.
r | r | radius, or smoothed exponent |
  A radius inside a proof; in geometry, the exponent of a smooth norm near the dual one.
f | f | failure of the oracle |
  The small probability with which the gradient oracle fails.
h | h | entropy, or a constant of p |
  The binary entropy in lower bounds, the support function in geometry, a constant that depends
  on p in upper bounds.
H | H | harmonic number |
  The sum of 1, 1/2, up to 1/n.
s | s | sensitivity, or a variable |
  How far one record can move a release, or what a minimum runs over.
t | t | variable |
  What a function is evaluated at, or noise in standard deviations.
e | e | Euler's number |
  2.718…, the base of the natural logarithm.
E | E | expectation |
  The mean over all that is random.
Φ | \Phi | normal distribution function |
  The probability that a standard normal number is below its argument.
Γ | \Gamma | gamma function |
  The factorial, for numbers between the integers.
Z | Z | standard normal number |
  A draw from the normal law with mean 0 and variance 1.
z | z | noise, or a record |
  What is added for privacy, where it stands as an index; otherwise one record.
θ | \theta | constant of the norm |
  A constant that grows as q comes near 1, at most about ln d.
ω | \omega | growing without bound |
  In an exponent ω(1): faster than every polynomial.
TV | \mathrm{TV} | total variation |
  The largest difference that two laws give to any event: 0 for equal laws, 1 for laws that
  never overlap.
KL | \mathrm{KL} | Kullback-Leibler divergence |
  How much one record tells two laws apart on average, in units of information.
ℓq | \ell_q | norm with exponent q | q
  A way to measure length: the q-th root of the sum of the coordinates' q-th powers.
J | J | what the prior tells |
  How much is known of the mean before any data, in the proof of a lower bound.
o | o | overlap |
  In lower bounds, what the outputs on two data sets have in common at least.
a | a | how far a mean moves, or an overlap |
  In lower bounds: what two outputs have in common, or how far the mean moves as a law is tilted.
"""

# Each entry: a name, then its meaning.
WORDS = r"""
Differential privacy
  What comes out is nearly as likely whether or not any one person's data are replaced.
Pure DP
  Differential privacy with δ = 0: replacing one record changes the probability of an outcome by at
  most the factor e to the ε, without exception.
Approximate DP
  Differential privacy in which the factor e to the ε may fail with a small probability δ; this is
  what allows Gaussian noise.
zCDP, concentrated DP (CDP)
  Zero-concentrated differential privacy: an output gives a record away no more than Gaussian noise
  of standard deviation σ does on a value that the record moves by Δ, with ρ = Δ²/(2σ²); less is
  more private, and the ρ of several releases add up.
Rényi divergence
  A measure of how well two laws can be told apart, one for every order α: zCDP allows at most ρα
  between the outputs before and after a record is replaced, and Gaussian noise has just that.
DP-SCO, SCO
  Differentially private stochastic convex optimization: learning the parameter with the least
  expected loss, for convex losses, from records that stay private; SCO is the same without privacy.
Cell
  One run of one method at one point of a study: the unit that is computed, kept and resumed.
Neighbour
  A data set in which one record, or at user level one person's whole block, has been replaced.
Sensitivity
  How far a result can move when one person's data are replaced.
Noise multiplier
  The standard deviation of the noise divided by the sensitivity.
Ledger
  The account of every noisy release: its sensitivity, its noise and its share of the budget.
Composition
  How budgets add up over several releases.
Vacuous bound
  An upper bound that is not below the error of an answer that ignores the data.
Tie
  Two methods whose errors on the same data differ by less than the runs can tell, as the 95 %
  interval of the paired differences holds 0.
Filtered gradients
  Accelerated descent whose every step takes the users' mean gradients through a filter.
Filtered SGD
  Phases in which groups of users run SGD, and a filter takes the averages that agree.
Filter
  A test at user level that lets only users through who agree with most others, so that their
  mean moves little.
AboveThreshold
  A private test that answers no for free, and pays once for the first yes.
Crossover
  The number of items per user from which on one method has a smaller error than the other.
Group privacy
  Hiding a user by hiding each of the items: the budget is divided among them.
Subsampling
  Using a random part of the data, which hides who was in it.
Shuffling
  Using the records in a random order that nobody sees, which hides who came when.
Audit
  An attack that measures how much of the claimed privacy a mechanism uses up.
Excess risk
  The expected loss of the answer on fresh data, minus that of the best parameter.
Heavy tail
  Large values that are rare but not rare enough to be ignored: some moments are infinite.
Tail index
  The order of the largest moment that exists: the smaller, the heavier the tail.
Price of privacy
  A private error over the error without privacy on the same data, by which tails and laws compare.
Clipping
  Shrinking what is longer than a radius to that radius, so that nobody counts too much.
Bias of clipping
  The error that shrinking large values makes, however many data there are.
Median of means
  The median of the means of several blocks: one wild record spoils only its own block.
Mirror descent
  Gradient descent in a geometry of one's choice, here that of the l_q norm.
Bregman divergence
  The distance that goes with a mirror map: how far a curved function is above its tangent.
Phased SGD
  Stochastic gradient descent in phases, each with half of the data and a smaller step and
  noise.
Objective perturbation
  Adding a random linear term to the loss and minimising it exactly, instead of adding noise to
  the result.
Smoothed truncation
  A soft cut of large values, averaged over noise so that it has no corners.
Gaussian width
  The mean over random directions of how far a set reaches: small sets let little noise through.
Generalized Gaussian noise
  Noise whose density falls with a norm that need not be round.
Dual norm
  The norm in which gradients are measured when parameters are measured in another.
Support function
  How far a set reaches in a direction.
Projection
  The nearest point of a set.
Packing
  Many parameters that are far from each other, although the data of any two look alike.
Fano's inequality
  A guessing game: one of N candidates has made the data, and whoever learns only I nats about which
  is wrong with probability at least 1 − (I + ln 2)/ln N, ¾ at N = 1,000 and I = 1; privacy keeps I
  small, and a wrong guess is a large error.
CDP Fano
  Fano's inequality for zCDP algorithms: their ρ limits the information I in the output, and so
  gives an error that none of them is below on all data.
Nat
  A unit of information: 1 nat is 1.44 bits, and ln N nats tell N candidates apart.
Spike
  A rare and large record; q is the probability that a record is one.
Hypercube
  A packing with one independent sign for each coordinate, which gives sharper constants.
Tracing
  Telling from a released answer whether a given record was used: an accurate answer lets a spy do
  it, a private one may not, and so a private answer cannot be too accurate.
Window
  On the page Lower bounds: the errors between the proven limit and what is proven possible, one of
  which is the best guarantee over all data with this tail.
Hardest data known
  The data on which the sharpest lower bound is proven: none are known on which privacy costs more.
Proven possible
  The least error that some private algorithm is proven to keep on all data with this tail.
Proven limit, or floor
  The edge of the red region: no private algorithm can promise a smaller error, on these data over
  all positions of the mean, even if it is told their exact shape.
Red region
  The errors that no private algorithm can promise; its edge is the proven limit.
Proven limit near these data, or floor near these data
  What no private algorithm can do better than over all laws under which no value of a coordinate
  is more than half as likely again, or less than half as likely, as in these data.
Lower bound
  An error that no algorithm with this privacy can beat on its hardest data.
Upper bound
  An error that an algorithm is proven not to exceed.
Lipschitz moments
  Every record's loss has its own largest gradient: a class of data in which the second and the
  p-th moment of that number are bounded, G₂ and Gₚ being their roots.
Explicit bound
  A bound whose constant is proven: its height means something.
Rate
  A bound whose constant is unknown and drawn as 1: only its slope means something.
Hard instance
  The data on which a lower bound is proven.
Calibration
  How much noise: tight is the least that is proven private, paper the printed constants.
Tuning
  How parameters such as radii are chosen: theory takes the theorem's, practical those that work
  at these sizes.
Trial
  One repetition with fresh data and fresh noise.
"""


class Term(NamedTuple):
    symbol: str  # The symbol in running text; empty for a term without one.
    latex: str  # The symbol in formulas; empty for a term without one.
    name: str
    meaning: str  # The meaning in one plain sentence.
    field: str | None  # The scenario field (and address parameter) that sets the term's value.


def _all_terms() -> Iterator[Term]:
    """Yield the entries of the glossary: the letters of fields, then the listed terms."""
    for name, properties in TABLE.items():
        if sign := properties.sign:
            yield Term(properties.symbol, sign.latex, sign.name, sign.meaning, name)
    for block in (SIGNS.rstrip() + WORDS).strip().replace("\n  ", "\0").split("\n"):
        head, *meaning = block.split("\0")
        cells = [cell.strip() for cell in head.split("|")]
        symbol, latex, name, field = cells if len(cells) > 1 else ("", "", *cells, "")
        yield Term(symbol, latex, name, " ".join(meaning), field or None)


GLOSSARY = tuple(_all_terms())
QUERY = "glossary_query"


def matching_terms(query: str) -> tuple[Term, ...]:
    """Return the terms that contain every word of a query; terms that the query names come first.

    Examples
    --------
    >>> [term.name for term in matching_terms("ε")][0]
    'privacy budget'
    >>> matching_terms("nothing of the kind")
    ()
    """
    words = query.casefold().split()
    if not words:
        return GLOSSARY

    def text(term: Term) -> str:
        """Return all texts of a term in one, without capitals, to look for words in."""
        latex = term.latex.removeprefix("\\")
        return " ".join((term.symbol, latex, term.name, term.meaning, term.field or "")).casefold()

    def rank(term: Term) -> tuple[bool, bool]:
        """Return the sort key: terms whose symbol or name matches come first."""
        signs = [sign.strip() for sign in term.symbol.casefold().split(",")]
        symbols = {*signs, term.latex.removeprefix("\\").casefold(), term.field or ""}
        return words[0] not in symbols, words[0] not in term.name.casefold()

    terms = [term for term in GLOSSARY if all(word in text(term) for word in words)]
    return tuple(sorted(terms, key=rank))


@st.fragment
def draw_glossary() -> None:
    """Draw the button that opens the glossary without rerunning the page."""
    if st.button("Glossary of symbols and words", icon=":material/menu_book:", key="glossary"):
        _draw_entries()


@st.dialog("Glossary", width="large", icon=":material/menu_book:")
def _draw_entries() -> None:
    """Draw the search field and the entries that match it."""
    query = st.text_input("Find a symbol or a word", key=QUERY, placeholder="epsilon, packing, G …")
    terms = matching_terms(query)
    st.caption(f"{len(terms)} of {len(GLOSSARY)} entries")
    if not terms:
        st.markdown("Nothing fits. Try a single word, or the name of a Greek letter.")
        return
    st.markdown("\n".join(entry_markdown(term) for term in terms))


def entry_markdown(term: Term) -> str:
    """Return a term of the glossary as an item of a Markdown list."""
    sign = f"${term.latex}$ · " if term.latex else ""
    name = term.name if term.latex else term.name[0].upper() + term.name[1:]
    control = f" In the address: `{term.field}`." if term.field else ""
    return f"- {sign}**{name}**: {term.meaning}{control}"

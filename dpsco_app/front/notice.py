"""The texts below Explore's figure: what to notice, and how to read it."""

from functools import lru_cache

from dpsco_app.front.titles import data_word, no_window
from dpsco_app.front.view import View
from dpsco_app.parts.evaluations import hardest, region
from dpsco_app.parts.presets import PRESETS
from dpsco_core.catalogue import distribution_card
from dpsco_core.data import Gaussian
from dpsco_core.explain.floors import no_floor
from dpsco_core.explain.hardest import is_hard
from dpsco_core.fields import MEAN
from dpsco_core.scenario import Scenario

SCALED = (
    "The p-th moment of every coordinate is 1 at every p, so the variance falls as p grows, and "
    "with it every error. Compare two tails by their **prices**: the error over the error without "
    "privacy on the same data."
)
LIGHT_DATA = (
    "These data are light, but an algorithm knows only p, so it must clip as if they were heavy."
)
FLOOR = (
    "**No private algorithm can be in the red region**, even one that is told the exact shape of "
    "these data, on average over all positions of the mean."
)
EASIER_DATA = (
    " The band above it is about **all** data with this tail: on easier data, such as these, a "
    "line may well run below it."
)
ANEW = " The hardest data known are made anew for each n and budget."
SAME_EXPONENT = (
    "Below p = 2 sampling and privacy have the same exponent, 1 - 1/p, so that more records never "
    "change the price of a guarantee."
)
NO_VARIANCE = (
    "These records have no variance: the sample mean’s own mean square error is infinite, and the "
    "average of its error over trials does not settle. Clipping can beat it, even in private."
)
HARD = (
    "These are the very data on which the lower bound is proven: averaged over the trials, no "
    "private algorithm can have an error below the edge of the red region."
)


@lru_cache(maxsize=200)
def to_notice(scenario: Scenario, view: View) -> tuple[str, ...]:
    """Return sentences on what a visitor should notice in the figure of a scenario."""
    of_it = [p for p in PRESETS if p.scenario == scenario]
    shows_promises = view.card == "light"  # The question about another tail has its own figure.
    texts = [
        p.look_for
        for p in of_it
        if (p.against, p.measure) == (view.against, view.measure)
        and (p.open == "light") == shows_promises
    ]
    is_hardest_alone = view.panel == "second" and view.against == "hardest"
    hard = scenario if is_hard(scenario) else hardest(scenario) if is_hardest_alone else None
    missing = no_floor(scenario)
    if hard is not None:
        bound = (HARD if region(hard) else "") + ANEW
    elif missing:
        law = distribution_card(scenario.distribution).name
        bound = f"On {law} {data_word(scenario)}: {missing[:1].lower()}{missing[1:]}"
    else:
        bound = FLOOR + EASIER_DATA * (not no_window(scenario)) + ANEW * (view.against == "hardest")
    # Figures of prices and of promises show no such bound.
    if bound and view.measure != "price" and not shows_promises:
        texts.append(bound)
    if scenario.axis == "p":
        texts.append(SCALED)
    if scenario.p < 2:
        texts.append(SAME_EXPONENT)
    if scenario.instance.law.tail_index <= 2:
        texts.append(NO_VARIANCE)
    if scenario.distribution == Gaussian.card.slug:
        texts.append(LIGHT_DATA)
    return tuple(texts)


HOW_TO_READ = """
- **Lines with points**: the mean error over the trials, which is what the bounds bind, with its
  95 % interval. On two-point data, as the hardest known mostly are, the one without privacy is the
  exact expected error. The best private algorithm is thick; the one without privacy is grey with
  open points. Point at a line, or at its name, to see where 8 of 10 runs lie and what is proven.
- **The red region**: no private algorithm has a smaller mean error on these data, on average over
  all positions of the mean. Lines without privacy may run through it, except where it says *private
  or not*: sampling alone then makes its edge, to within 1 %. The edge is the **proven limit**.
- **Proven possible**: the smallest error that this library proves for all data with this tail,
  with every constant. It is drawn on the hardest data known.
- **The ruler** at the chosen point: all factors are over the error without privacy on these data.
- **CDP Fano**: a lower bound of Fano's type for zCDP algorithms, by distance. The question *The
  proof* draws it, and the table has it. Under zCDP the limit is no smaller. Under (ε, δ) it is
  about algorithms that add Gaussian noise: others may run below. Pure DP has **Pure-DP Fano**.
- **Two panels** (More settings): a band holds the best promise for all data with this tail.
- **Dashed grey**: the error of an answer that ignores the data.
- **×**: the error of the best private algorithm over the error without privacy, at the chosen
  point: the price of privacy.
- **Bounds** draws more: each method's own proven bound, every lower bound by name, rates (dashed,
  with constant 1: only their slope means something), and formulas of your own.
- **Prices of other pages** are over something else. Here it is a measured error over that of the
  method without privacy that has run, on these data, at the n, d and budget of the line below the
  headline. The story clips at the best radius of its own small sample, and its last steps divide a
  worst case over all data by √(d/n), as do its floors: such a worst-case factor is larger.
- **Faded**: all of it is of the run before the last change of a setting. A single faded bound: one
  of its conditions fails.
- Neighbouring data sets differ by replacing one record, at user level all items of one user. The
  data are synthetic.
"""
HOW_TO_READ_RISKS = """
- **Excess population risk**: the expected loss of the answer on fresh data, minus that of the best
  parameter in the constraint set. At 0 nothing is lost.
- A lower bound is a worst case over a class of losses and distributions: convex losses, where it is
  proven with a linear loss, or strongly convex ones, where it is proven with the squared distance.
- For the squared distance, what is proven possible may be proven of a private estimate of the mean.
  Projected on the constraint set it is an optimiser, although not one that runs here.
"""
HOW_TO_READ_USERS = """
- **Lower bounds at user level**: hiding all items of a user hides each of them, so the bounds for
  single records bind here too, as if every item were a record.
"""


def how_to_read(scenario: Scenario) -> str:
    """Return the explanation of the figure, with what a problem or users add to it."""
    parts = [HOW_TO_READ]
    if scenario.problem != MEAN:
        parts.append(HOW_TO_READ_RISKS)
    if scenario.level == "user":
        parts.append(HOW_TO_READ_USERS)
    return "".join(parts)

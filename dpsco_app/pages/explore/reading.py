"""How to read Explore's figure, in words."""

from dpsco_app.parts.problem_words import MEAN
from dpsco_core.scenario import Scenario

HOW_TO_READ = """
- **Solid lines with points**: the mean error over the trials, which is what the bounds bind,
  with its 95 % interval; the band holds 10 % to 90 % of the trials.
- **Red lines**: lower bounds with proven constants. *Worst case, every (ε, δ) algorithm*: nobody
  who is private at this budget can guarantee less for every law with these moments. *Worst case,
  every zCDP algorithm*: the same for zCDP at the ρ that the Gaussian noise here spends. It binds
  fewer algorithms and is higher. *CDP Fano* is what Fano's inequality gives. Each line is the
  largest of several bounds: hover to read which. On the data that a bound is proven for, the
  region below it is shaded: no private algorithm can do better there.
- **A thin line named “at p = 8”**: the method of that colour with a light tail, on paired trials.
  *Compare with* in the panel switches it off.
- **Other thin solid lines**: upper bounds with proven constants. **Dashed**: rates, drawn with
  constant 1 because the constant is not known; only their slope means something.
- **Faded**: a condition of the theorem fails there; hover to read which.
- Neighbouring data sets differ by replacing one record, at user level all items of one user. The
  data are synthetic.
"""
HOW_TO_READ_RISKS = """
- **Excess population risk**: the expected loss of the answer on fresh data, minus that of the best
  parameter in the constraint set. At 0 nothing is lost.
- **Dotted**: what is left by the starting point, the centre of the constraint set, which needs no
  data and has perfect privacy. A method above it has made things worse.
- A lower bound is a worst case over a class of losses and distributions. The figure draws those
  of the smallest class that your problem is in: convex losses, where they bind on the linear loss
  with the data of the hypercube, or strongly convex ones, where they bind on the squared distance.
"""
HOW_TO_READ_USERS = """
- **Lower bounds at user level**: whoever hides all items of a user hides each of them, so that the
  bounds for single records bind here too, as if every item were a record. The rate at user level
  is larger, but its constant is not known.
- Counts of **item gradients** are bounds on work, not on the excess risk: they are in the table of
  bounds only.
"""
HOW_TO_READ_TWO = """
- **Dashed with open points**: the pinned run, or the same run on the other set; a method keeps its
  colour. The bounds are those of the present settings.
- **Faded solid lines**: the previous run, after a setting has changed. The bounds follow at once,
  the errors at the next run.
"""


def how_to_read(scenario: Scenario) -> str:
    """Return what to know of the figure of a scenario."""
    parts = [HOW_TO_READ, HOW_TO_READ_TWO]
    if scenario.problem != MEAN:
        parts.append(HOW_TO_READ_RISKS)
    if scenario.level == "user":
        parts.append(HOW_TO_READ_USERS)
    return "".join(parts)

"""The words of the spy of the proof by tracing."""

from collections.abc import Sequence

import numpy as np

from dpsco_app.pages.lower_bounds.words import brief
from dpsco_app.parts.options import budget_text, inside, separated
from dpsco_core.catalogue import method_card
from dpsco_core.explain.tracing import Spied, most_caught
from dpsco_core.privacy.budget import Budget

ABOUT_TRACING = (
    "Can a spy tell whether your record was used? An accurate estimate must follow the records, "
    "so it agrees a little with each record that made it. Privacy limits that agreement record by "
    "record: there cannot be enough of it for the accuracy. This proof binds every (ε, δ) "
    "algorithm, whatever noise it adds."
)
ABOUT_SPY = (
    "She scores spikes that were among the data, and fresh ones that were not, on data of the "
    "proof's instance. The first figure shows how many records in use she finds at every rate of "
    "false alarms. No test of a private output can reach the red region; the step from a "
    "fresh record to one in use is what the proof adds up."
)


def spy_sentence(spied: Sequence[Spied], budget: Budget) -> str:
    """Return how many records in use the spy finds, and how many she may find at most."""
    most = float(most_caught(budget, np.array([0.05]))[0])
    parts = separated(
        [f"{100 * s.caught:.0f} % from {inside(method_card(s.method).name)}" for s in spied]
    )
    return (
        f"With false alarms for 5 % of the records that were not used, she finds {parts} "
        f"of those that were. Privacy at {budget_text(budget)} allows at most {100 * most:.0f} %."
    )


def scores_title(spied: Sequence[Spied]) -> str:
    """Return how far the scores of records in use are from those of others."""
    parts = [
        f"{(s.used.mean() - s.fresh.mean()) / s.fresh.std():.2f}".replace("-", "−") for s in spied
    ]
    names = [inside(method_card(s.method).name) for s in spied]
    both = separated([f"{p} ({n})" for p, n in zip(parts, names, strict=True)])
    return f"Records in use score higher by standard deviations of {both}"


def caught_title(spied: Sequence[Spied], budget: Budget) -> str:
    """Return whose curve lies above what privacy allows."""
    above = []
    for one in spied:
        false, true = one.rates()
        if float((true - most_caught(budget, false)).max()) > 0.05:
            above.append(method_card(one.method).name)
    if not above:
        return "No output lets the spy do better than privacy allows"
    verb = "let" if len(above) > 1 else "lets"
    return f"{separated(above)} {verb} the spy do better than privacy allows"


def tracing_title(bound: float) -> str:
    return f"An error below {brief(bound)} would let a spy tell whose records were used"

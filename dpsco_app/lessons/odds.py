"""The lesson on an attacker's errors: the figure of the trade-off curve, and the finding."""

import math
from dataclasses import replace

import numpy as np

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import IMPOSSIBLE, METHODS, QUIET
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Line, Panel, Region, Words
from dpsco_app.lessons.findings import LessonEvidence, LessonFinding, average_value
from dpsco_app.parts.options import number_text
from dpsco_app.parts.simple_figures import ladder_row, log_axis, thin_line
from dpsco_core.audit import attacker
from dpsco_core.audit.statistics import proportion_high, proportion_low
from dpsco_core.privacy.tradeoff import gaussian_curve

COLOUR = METHODS["violet"]
SHARES = np.geomspace(0.1, 100, 91)  # The false-alarm rates of the curve, in percent.
FEWEST = float(SHARES[0])
WRONG = 0.05  # The chance that the interval of a measured share misses the true share.


def plane_of_errors(evidence: LessonEvidence, title: str, *, has_run: bool) -> Figure:
    """Return the figure of false alarms against misses; after the run, with the proven limit."""
    shares, place = SHARES.tolist(), attacker.FALSE_ALARMS
    curve = attacker.least_misses(SHARES).tolist()
    blind = thin_line("", shares, (100 - SHARES).tolist())
    rows = [
        LadderRow(
            key="blind",
            name="Accusing blindly",
            colour=QUIET,
            values=[f"{100 - place:g} %"],
            end=62.0,
        )
    ]
    regions, lines, words = [], [], []
    if has_run:
        missed = average_value(evidence.points, attacker.MISSED)
        accused = average_value(evidence.points, attacker.ACCUSED)
        low, high = interval_of_misses(evidence)
        lines.append(
            Line(
                key=attacker.MISSED,
                name="Measured",
                x=[max(accused, FEWEST)],
                y=[missed],
                colour=COLOUR,
                symbol="circle",
                size=11,
                width=0,
                half=[high - missed],
                down=[missed - low],
                hover=[
                    f"measured: {accused:.2g} % false alarms, {missed:.1f} % misses "
                    f"(95 % interval: {low:.1f} % to {high:.1f} %)"
                ],
            )
        )
        regions.append(
            Region(
                key="limit",
                name="impossible",
                x=shares,
                upper=curve,
                look=IMPOSSIBLE,
                hover=[
                    f"{x:.2g} % false alarms: at least {y:.4g} % misses"
                    for x, y in zip(shares, curve, strict=True)
                ],
            )
        )
        words.append(
            Words(
                lines=["no attack gets here", "on average"],
                colour=IMPOSSIBLE.ink,
                want=(0.05, 0.1),
                below="limit",
            )
        )
        measured = f"{missed:.1f} % ({low:.1f} to {high:.1f})"
        rows.append(ladder_row(lines[0], measured, 42.0))
        rows.append(
            LadderRow(
                key="limit",
                name="Proven limit",
                colour=IMPOSSIBLE.ink,
                swatch="edge",
                values=[f"{_least_at(place):.1f} %"],
                end=22.0,
            )
        )
    axis = log_axis("False alarms: others who are accused (log)", FEWEST, 100)
    ticks = [(x, f"{x:g} %") for x in (FEWEST, place, 10.0, 100.0)]
    return Figure(
        panels=[
            Panel(
                title="",
                x=replace(axis, ticks=ticks),
                regions=regions,
                lines=[blind, *lines],
                words=words,
            )
        ],
        y=linear_axis("Misses: members who are not accused", 0, 100, " %"),
        ladder=Ladder(title=f"At {place:g} %", columns=["missed"], rows=rows, leaders=False),
        alt=title,
    )


def missed_members(evidence: LessonEvidence) -> LessonFinding:
    """Return the finding of lesson 15: the share of members missed by an attacker who accuses one
    non-member in 100.
    """
    missed = average_value(evidence.points, attacker.MISSED)
    accused = average_value(evidence.points, attacker.ACCUSED)
    members, (low, high) = _members(evidence), interval_of_misses(evidence)
    place, budget = attacker.FALSE_ALARMS, attacker.BUDGET
    promised = float(attacker.promised_misses(np.array([place]))[0])
    advantage = 100 * gaussian_curve(attacker.RHO).advantage
    limit = _least_at(place)
    luck = (
        "The limit lies inside that interval, so the measurement agrees with it: a finite number "
        "of attacks falls a little below or above by chance"
        if low <= limit <= high
        else "The limit lies outside that interval, which happens by chance in 1 of 20 "
        "measurements of an attack that reaches it"
    )
    return LessonFinding(
        answer=missed,
        headline=f"Accusing {place:g} of 100 others, the attacker misses {missed:.0f} % of the "
        "members",
        text=f"Of {members:,} members **{missed:.1f} %** were missed (95 % interval: {low:.1f} % "
        f"to {high:.1f} %), and {accused:.2g} % of as many others accused. At {place:g} % no "
        f"attack on this noise misses fewer than **{limit:.1f} %** on average over infinitely many "
        f"attempts. {luck}. ε and δ alone promise {promised:.1f} %. **ε = "
        f"{budget.epsilon:g}** at δ = {number_text(budget.delta)}, **ρ = {attacker.RHO:.3g}** and "
        f"**μ = {math.sqrt(2 * attacker.RHO):.3g}** are readings of this one curve. Whatever "
        f"the threshold, a member is accused at most {advantage:.1f} percentage points more often "
        "than somebody else.",
    )


def interval_of_misses(evidence: LessonEvidence) -> tuple[float, float]:
    """Return Clopper and Pearson's 95 % interval for the percentage of missed members."""
    members = _members(evidence)
    missed = round(members * average_value(evidence.points, attacker.MISSED) / 100)
    ends = (limit(missed, members, WRONG / 2) for limit in (proportion_low, proportion_high))
    low, high = (100 * float(end) for end in ends)
    return low, high


def _members(evidence: LessonEvidence) -> int:
    """Return how many members were attacked."""
    return attacker.PEOPLE * sum(p.trials for p in evidence.points if p.series == attacker.MISSED)


def _least_at(place: float) -> float:
    """Return the least possible percentage of missed members at a percentage of false alarms."""
    return float(attacker.least_misses(np.array([place]))[0])

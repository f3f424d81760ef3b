"""The attacker's curve on the page Privacy: the audit's runs in the plane of two kinds of error."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from dpsco_app.figure.axes import linear_axis
from dpsco_app.figure.colours import IMPOSSIBLE, QUIET
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.values import Figure, Ladder, LadderRow, Line, Panel, Region, Words
from dpsco_app.parts.options import number_text
from dpsco_app.parts.simple_figures import ladder_row, thin_line
from dpsco_core.audit.attacks import Attack, Judged
from dpsco_core.catalogue import method_card
from dpsco_core.privacy.tradeoff import TradeoffCurve

ACCEPTED = 0.01  # The share of false alarms in the headline.
SHARES = np.concatenate([np.geomspace(1e-6, 1e-2, 30)[:-1], np.linspace(0.01, 1, 100)])


def attack_figure(curve: TradeoffCurve, achieved: Attack, method: str, alt: str) -> Figure:
    """Return the figure of misses against false alarms: the claim's limit and the attack's box.

    `method` is the slug of the attacked method.
    """
    shares = [0.0, *SHARES.tolist()]
    misses = curve.misses(np.array(shares)).tolist()
    excluded = Region(
        key="claim",
        name="no attack gets here",
        x=shares,
        upper=misses,
        look=IMPOSSIBLE,
        hover=[
            f"{_percent(x)} false alarms: at least {_percent(y)} misses"
            for x, y in zip(shares, misses, strict=True)
        ],
    )
    (left, right), (low, high) = achieved.alarm_interval, achieved.miss_interval
    box = Line(
        key="attack",
        name="the audit's attack",
        x=[left, right, right, left, left],
        y=[low, low, high, high, low],
        colour=colour_of(method),
        width=1.6,
        fill=0.25,
        hover=[
            f"with confidence {number_text(100 * achieved.confidence)} %: {_percent(x)} false "
            f"alarms, {_percent(y)} misses"
            for x, y in ((left, low), (right, low), (right, high), (left, high), (left, low))
        ],
    )
    point = Line(
        key="attack",
        name="the audit's attack",
        x=[achieved.alarm_share],
        y=[achieved.miss_share],
        colour=colour_of(method),
        width=0,
        symbol="circle",
        size=10,
        hover=[
            f"measured: {_percent(achieved.alarm_share)} false alarms, "
            f"{_percent(achieved.miss_share)} misses"
        ],
    )
    words = Words(
        lines=["<b>no attack gets here</b>"],
        colour=IMPOSSIBLE.ink,
        want=(0.06, 0.12),
        below="claim",
    )
    alarms = achieved.alarm_share
    claim = LadderRow(
        key="claim",
        name="the claim, at least",
        colour=IMPOSSIBLE.ink,
        values=[_percent(float(curve.misses(np.array(alarms))))],
        end=misses[-1],
        swatch="edge",
    )
    reached = ladder_row(point, _percent(achieved.miss_share), achieved.miss_share)
    guessing = replace(thin_line("blind guessing", [0.0, 1.0], [1.0, 0.0]), label="")
    return Figure(
        panels=[
            Panel(
                title="",
                x=linear_axis("False alarms: share of others who are accused", 0, 1),
                regions=[excluded],
                lines=[guessing, box, point],
                words=[words],
            )
        ],
        y=linear_axis("Misses: share of true cases", 0, 1),
        ladder=Ladder(
            title=f"Measured at {_percent(alarms)} false alarms",
            columns=["misses"],
            rows=[
                claim,
                reached,
                LadderRow(
                    key=guessing.key,
                    name="blind guessing",
                    colour=QUIET,
                    values=[_percent(1 - alarms)],
                    end=0.0,
                ),
            ],
        ),
        alt=alt,
    )


def title_attack(judged: Judged) -> str:
    """Return the title of an attack: that a claim is refuted, or what the claim allows at best."""
    curve, achieved = judged.curve, judged.attack
    if achieved.refutes:
        return (
            f"Caught: at {_percent(achieved.alarm_interval[1])} "
            "false alarms the attack misses at most "
            f"{_percent(achieved.miss_interval[1])}, and the claim allows no fewer than "
            f"{_percent(achieved.least_misses)}"
        )
    if judged.verdict == "refuted":
        result = judged.result
        return (
            f"Caught: ε is at least {result.epsilon_lower_bound:.2f}, not "
            f"{result.claimed_epsilon:.3g}, though the attack's box is not below the curve"
        )
    least_missed = float(curve.misses(np.array(ACCEPTED)))
    return (
        f"An attacker who accuses 1 in {1 / ACCEPTED:.0f} others misses at least "
        f"{_percent(least_missed)} of the true cases"
    )


def said_attack(achieved: Attack, method: str, fault: str) -> str:
    """Return sentences on how the attack was run, and on the confidence of its box.

    `fault` is the name of a deliberate fault, or empty.
    """
    broken = f", {fault.lower()}" if fault else ""
    verdict = (
        "its upper right corner lies in the red region"
        if achieved.refutes
        else "it is not inside the red region, which does not prove the claim"
    )
    return (
        f"{method_card(method).name}{broken}: {achieved.negatives:,} test runs on each neighbour. "
        f"The dot is what they measured; the box around it holds the true shares with confidence "
        f"{number_text(100 * achieved.confidence)} %; {verdict}."
    )


def said_readings(curve: TradeoffCurve, delta: float) -> str:
    """Return the numbers of a curve: epsilon, delta, rho and mu are four readings of it."""
    read = (
        f"ε = {curve.epsilon(delta):.4g} at δ = {number_text(delta)}"
        f", and an advantage of at most {_percent(curve.advantage)} (right alarms less false ones)"
    )
    if curve.mu is None:
        return (
            "**ε, δ, ρ and μ are four readings of one curve.** This one is not that of Gaussian "
            f"noise, so that no single μ or ρ describes it: {read}."
        )
    return (
        "**ε, δ, ρ and μ are four readings of one curve.** This one is that of two normal laws "
        f"μ = {curve.mu:.4g} standard deviations apart: ρ = μ²/2 = {curve.mu**2 / 2:.4g}, {read}."
    )


def attack_table(curve: TradeoffCurve, achieved: Attack) -> pd.DataFrame:
    """Return the table of an attack: its counts, its box, and what the claim allows."""
    columns: dict[str, Sequence[object]] = {
        "": ["false alarms", "misses"],
        "Count": [achieved.false_alarms, achieved.misses],
        "Test runs": [achieved.negatives, achieved.positives],
        "Share at least": [achieved.alarm_interval[0], achieved.miss_interval[0]],
        "Share at most": [achieved.alarm_interval[1], achieved.miss_interval[1]],
        "The claim allows at least": [None, achieved.least_misses],
    }
    return pd.DataFrame(columns)


def _percent(share: float) -> str:
    """Return a share as a percentage with three digits."""
    return f"{100 * share:.3g} %"

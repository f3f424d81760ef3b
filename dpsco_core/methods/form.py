"""The form in which a method runs: as printed in its paper, calibrated, or reconstructed."""

from dataclasses import dataclass
from typing import Literal

from dpsco_core.base.cards import FOLKLORE, OWN
from dpsco_core.methods.base import Calibration, Method, Tuning

FormName = Literal["as printed", "calibrated", "reconstructed"]
NOISE = {"tight": "the least noise that the proof allows", "paper": "the printed noise"}
PARAMETERS = {
    "practical": "parameters chosen for these sizes in place of the theorem’s",
    "theory": "the theorem’s parameters",
}


@dataclass(frozen=True, kw_only=True)
class Form:
    """How a method runs compared with the algorithm that its paper prints."""

    name: FormName
    tag: str  # the departure from the printed algorithm in a few words; empty if there is none
    text: str  # the departure in full sentences


def form_of(method: type[Method], calibration: Calibration, tuning: Tuning) -> Form | None:
    """Return how a method, as it runs, compares with what its paper prints.

    The answer is None for a baseline and for a method without a paper.

    Examples
    --------
    >>> from dpsco_core.methods.mean import CoordinatewiseCDP
    >>> form_of(CoordinatewiseCDP, "tight", "practical").tag
    'one block'
    >>> form_of(CoordinatewiseCDP, "paper", "theory").name
    'as printed'
    """
    card = method.card
    if card.privacy == "none" or card.paper in (FOLKLORE, OWN) or method.source == "baseline":
        return None
    departures = [d for d in method.departs if tuning == "practical" or not d.practical]
    name: FormName = "calibrated"
    if method.source == "reconstructed":
        name = "reconstructed"
    elif (calibration, tuning) == ("paper", "theory") and not departures:
        name = "as printed"
    opening = f"{name.capitalize()}: {NOISE[calibration]}, {PARAMETERS[tuning]}."
    tags = ["reconstructed"] * (name == "reconstructed") + [d.tag for d in departures]
    return Form(
        name=name, tag=", ".join(tags), text=" ".join([opening, *(d.text for d in departures)])
    )


def common_form(calibration: Calibration, tuning: Tuning) -> str:
    """Return what the methods of one run have in common as a sentence for a legend.

    Examples
    --------
    >>> common_form("tight", "practical")
    'Methods are calibrated: the least noise that the proof allows.'
    """
    noise, theory = NOISE[calibration], tuning == "theory"
    if calibration == "paper":
        return (
            "Methods run as printed: the papers’ noise and parameters."
            if theory
            else f"Methods have {noise}, with parameters chosen for these sizes."
        )
    return f"Methods are calibrated: {noise}{', the theorems’ parameters' * theory}."

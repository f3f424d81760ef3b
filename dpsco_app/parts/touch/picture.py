"""The interactive picture of how a private mean is computed."""

import json
from typing import Any

from dpsco_app.figure.colours import BIAS, IMPOSSIBLE, INK, METHODS, NOISE, PAGE, SAMPLING
from dpsco_app.figure.methods import colour_of
from dpsco_app.figure.theme import Theme
from dpsco_app.parts.options import number_text
from dpsco_app.parts.touch.alone import page_of
from dpsco_app.parts.touch.modules import text
from dpsco_core.catalogue import distribution_card
from dpsco_core.explain.picture import SHOWN_RECORDS, Picture, picture
from dpsco_core.scenario import Scenario

TITLE = "How a private mean is made"
COLOURS = {
    "ink": INK,
    "page": PAGE,
    "sampling": SAMPLING,
    "bias": BIAS,
    "noise": NOISE,
    "other": METHODS["magenta"],  # The colour of the record that is changed.
    "price": colour_of("mean.clipped"),
    "floor": IMPOSSIBLE.edge,
}


def sample_words(scenario: Scenario) -> str:
    """Return sentences on which part of a scenario the picture shows, and what it leaves out."""
    drawing = picture(scenario)
    count_text = (
        f" {SHOWN_RECORDS} of the {number_text(drawing.n)} records are drawn."
        if drawing.n > SHOWN_RECORDS
        else ""
    )
    law = distribution_card(drawing.law).name
    law_text = f" A hard instance is made for one n and budget; these records follow {law}."
    instead = "" if drawing.law == scenario.distribution else law_text
    delta_text = "" if scenario.rho or scenario.delta else f" with δ = {number_text(drawing.delta)}"
    return (
        f"Your n, ε and p, in two dimensions{delta_text}.{count_text}{instead} The picture shows "
        "records, so it is not private itself."
    )


def picture_data(*scenarios: Scenario, dark: bool) -> dict[str, Any]:
    """Return the data that the browser draws: a sample for each scenario, and common noise.

    The noise and the uniform numbers are those of the first scenario.
    """
    numbers = [picture(scenario) for scenario in scenarios]
    samples = [_sample_data(one) for one in numbers]
    return {
        # The picture restarts only if this value changes.
        "id": json.dumps([(s["n"], s["epsilon"], s["delta"], s["records"][0]) for s in samples]),
        "colours": picture_colours(Theme(dark=dark)),
        "samples": samples,
        "noise": numbers[0].noise.tolist(),
        "uniforms": numbers[0].uniforms.tolist(),
    }


def picture_colours(theme: Theme) -> dict[str, str]:
    """Return the colours of the picture by their names."""
    colours = {name: theme.colour(pair) for name, pair in COLOURS.items()}
    return colours | {"faint": f"{colours['noise']}55", "otherFaint": f"{colours['other']}55"}


def _sample_data(drawing: Picture) -> dict[str, Any]:
    """Return the numbers of one scenario's picture that the browser needs, as JSON values."""
    law = drawing.clipped
    plain = ("n", "p", "epsilon", "delta", "rho", "blind", "best", "start", "target")
    return {name: getattr(drawing, name) for name in plain} | {
        "reach": law.radii[[0, -1]].tolist(),
        "records": drawing.records.tolist(),
        "mean": drawing.mean.tolist(),
        "plain": drawing.plain.tolist(),
        "averages": drawing.averages.T.tolist(),
        "law": {"bias": law.bias.tolist(), "variance": law.variance.tolist(), "whole": law.whole},
        "ladder": drawing.ladder.tolist(),
        "longer": drawing.longer.tolist(),
        "choiceEpsilon": drawing.choice_epsilon,
        "choiceRho": drawing.choice_rho,
    }


def picture_page(scenario: Scenario, *, dark: bool = False) -> str:
    """Return the picture as a standalone page that works without a server or a network."""
    return page_of(
        TITLE,
        ("picture.css",),
        text("picture.html"),
        "picture.js",
        picture_data(scenario, dark=dark),
        dark=dark,
    )

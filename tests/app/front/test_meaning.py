"""The picture of hiding a person is of the method that is spoken of, up to its price."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dpsco_app.figure.theme import Theme
from dpsco_app.front.pictures.meaning import LEAST_SHIFT, cause, meaning, noise_scale
from dpsco_app.front.screen import front_screen
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.parts.presets import FIRST
from dpsco_core.catalogue import method_card
from dpsco_core.explain.error_parts import PriceParts
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

HARDEST = replace(FIRST.scenario, grid=(1000, 10_000))


def whole(scenario: Scenario) -> Study:
    return Study(scenario=scenario, outcomes=tuple(study(scenario)), role="hardest")


def words_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_the_steps_lead_from_no_price_to_that_of_the_headline() -> None:
    screen = front_screen((whole(HARDEST),), View(), Theme())
    total = re.findall(r"costs ([\d.]+) times", screen.answer.headline[0])[0]
    words = words_of(screen.head)
    average, clipped, noisy = re.findall(
        r"average ×([\d.]+) → clip first ×([\d.]+) → add noise ×([\d.]+)", words
    )[0]
    assert average == "1" and noisy == total
    assert float(average) < float(clipped) <= float(noisy)
    assert "The clipping costs, hardly the noise." in words


@pytest.mark.parametrize(
    ("clipping", "noise", "words"),
    [
        (2.4, 0.05, "The clipping costs, hardly the noise."),
        (0.0, 0.7, "The noise costs, hardly the clipping."),
        (-0.2, 0.7, "The noise costs, hardly the clipping."),
        (1.0, 0.7, "The clipping costs, and so does the noise ."),
    ],
)
def test_the_step_that_makes_the_price_is_named(clipping: float, noise: float, words: str) -> None:
    assert words_of(cause(PriceParts(clipping=clipping, noise=noise), Theme())) == words


def test_the_noise_is_drawn_as_long_as_its_part_of_the_price() -> None:
    parts = [PriceParts(clipping=c, noise=n) for c, n in ((2.4, 0.0), (1.0, 1.0), (0.0, 1.0))]
    assert [noise_scale(p) for p in parts] == [LEAST_SHIFT, 0.5, 1.0]


def test_old_runs_keep_the_picture_and_lose_its_numbers() -> None:
    old = front_screen((whole(HARDEST),), View(), Theme(), is_old=True, waiting="Measuring ...")
    words = words_of(old.head)
    assert "average → clip first → add noise" in words and "×" not in words


def test_a_method_that_works_in_another_way_says_what_it_does_itself() -> None:
    slug = "mean.cwme-cdp"
    html = meaning(whole(replace(HARDEST, methods=("mean.sample", slug))), Theme())
    assert method_card(slug).summary in html
    assert not re.search("clip first", words_of(html))


def test_of_a_loss_gradients_are_clipped() -> None:
    scenario = Scenario(problem="logistic", n=500, d=5, methods=("sco.clipped",))
    assert "average → clip gradients first → add noise" in words_of(
        meaning(Study(scenario=scenario), Theme())
    )

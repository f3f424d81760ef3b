"""The picture of hiding a person is of the method that is spoken of, and its prices add up."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dpsco_app.figure.theme import Theme
from dpsco_app.front.pictures.meaning import meaning, part_texts
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


def test_what_the_steps_cost_adds_up_to_the_price_of_the_headline() -> None:
    screen = front_screen((whole(HARDEST),), View(), Theme())
    total = re.findall(r"costs ([\d.]+) times", screen.answer.headline[0])[0]
    words = words_of(screen.head)
    clip, average, noise, sum_text = re.findall(
        r"clip ([\d.]+) \+ average ([\d.]+) \+ add noise ([\d.]+) = ×([\d.]+)", words
    )[0]
    assert sum_text == total and average == "1"
    assert float(clip) + 1 + float(noise) == pytest.approx(float(total))
    assert float(clip) > float(noise)


def test_rounded_parts_add_up_whatever_they_are() -> None:
    for clipping in (-0.37, 0.04, 1.449, 5.55, 31.4):
        for noise in (0.0, 0.249, 3.351, 44.5):
            parts = PriceParts(clipping=clipping, noise=noise)
            values = [float(text.replace("−", "-")) for text in part_texts(parts)]
            digits = 1 if parts.price < 9.95 else 0
            assert sum(values) == pytest.approx(round(parts.price, digits)), parts


def test_old_runs_keep_the_picture_and_lose_its_numbers() -> None:
    old = front_screen((whole(HARDEST),), View(), Theme(), before=True, waiting="Measuring ...")
    words = words_of(old.head)
    assert "clip → average → add noise" in words and "×" not in words


def test_a_method_that_works_in_another_way_says_what_it_does_itself() -> None:
    slug = "mean.cwme-cdp"
    html = meaning(whole(replace(HARDEST, methods=("mean.sample", slug))), Theme())
    assert method_card(slug).summary in html
    assert not re.search("clip (→|[0-9])", words_of(html))


def test_of_a_loss_gradients_are_clipped() -> None:
    scenario = Scenario(problem="logistic", n=500, d=5, methods=("sco.clipped",))
    assert "clip gradients → average → add noise" in words_of(
        meaning(Study(scenario=scenario), Theme())
    )

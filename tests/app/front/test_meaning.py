"""The picture of how a person is hidden describes the method in the answer, up to its price."""

from __future__ import annotations

import base64
import math
import re
from dataclasses import replace

import pytest

from dpsco_app.figure.theme import Theme
from dpsco_app.front.pictures.data import far_records
from dpsco_app.front.pictures.meaning import (
    CLIP,
    LARGEST_UNIT,
    LONGEST_ERROR,
    NO_DATA,
    NO_DATA_MORE,
    WHY_CLIP,
    cause,
    error_places,
    is_level_without_data,
    meaning,
)
from dpsco_app.front.screen import front_screen
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_app.parts.presets import FIRST
from dpsco_core.catalogue import method_card
from dpsco_core.explain.error_parts import PriceParts
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

HARDEST = replace(FIRST.scenario, grid=(1000, 10_000))


def complete_study(scenario: Scenario) -> Study:
    """Return a study of the hardest data with all its cells run."""
    return Study(scenario=scenario, outcomes=tuple(study(scenario)), role="hardest")


def words_of(html: str) -> str:
    """Return the text of a piece of HTML without tags, and with single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_the_steps_lead_from_no_price_to_the_price_of_the_headline() -> None:
    screen = front_screen((complete_study(HARDEST),), View(), Theme())
    total = re.findall(r"costs ([\d.]+) times", screen.answer.headline[0])[0]
    words = words_of(screen.head)
    average, clipped, noisy = re.findall(
        r"average ×([\d.]+) → clip first ×([\d.]+) → add noise ×([\d.]+)", words
    )[0]
    assert average == "1" and noisy == total
    assert float(average) < float(clipped) <= float(noisy)
    far = far_records(HARDEST)
    assert far is not None
    cause_text = cause(PriceParts(clipping=2.4, noise=0.05), far, Theme())
    assert words_of(cause_text) == f"Clipping {far.count} records costs most, noise little."
    assert is_level_without_data(complete_study(HARDEST))
    assert words.endswith(NO_DATA)
    assert f"title='{NO_DATA_MORE} {WHY_CLIP}'" in screen.head


@pytest.mark.parametrize(
    ("clipping", "noise", "words"),
    [
        (-0.5, 0.2, "Here clipping gains more than the noise costs."),
        (2.4, 0.05, "The clipping costs, hardly the noise."),
        (0.0, 0.7, "The noise costs, hardly the clipping."),
        (-0.2, 0.7, "The noise costs, hardly the clipping."),
        (1.0, 0.7, "The clipping costs, and so does the noise ."),
    ],
)
def test_the_step_that_makes_the_price_is_named(clipping: float, noise: float, words: str) -> None:
    assert words_of(cause(PriceParts(clipping=clipping, noise=noise), None, Theme())) == words


@pytest.mark.parametrize("is_one_sided", [True, False])
@pytest.mark.parametrize(
    ("clipping", "noise"), [(2.4, 0.05), (0.0, 0.7), (-0.2, 0.7), (1.0, 0.7), (8.0, 90.0)]
)
def test_the_errors_of_the_pictures_are_to_the_scale_of_their_prices(
    clipping: float, noise: float, is_one_sided: bool
) -> None:
    parts = PriceParts(clipping=clipping, noise=noise)
    places = error_places(parts, is_one_sided=is_one_sided)
    lengths = [math.dist(places.true_mean, answer) for answer in places.answers.values()]
    unit = lengths[0]
    assert 0 < unit <= LARGEST_UNIT and max(lengths) <= LONGEST_ERROR * (1 + 1e-9)
    assert lengths == pytest.approx([unit, unit * (1 + clipping), unit * parts.price])
    # What clipping leaves of one-sided records lies at their centre.
    assert not is_one_sided or places.answers[CLIP] == pytest.approx((0.0, 0.0))


def test_outdated_runs_keep_the_picture_without_its_numbers() -> None:
    old = front_screen(
        (complete_study(HARDEST),), View(), Theme(), is_old=True, waiting="Measuring ..."
    )
    words = words_of(old.head)
    assert "average → clip first → add noise" in words and "×" not in words


def test_a_method_that_does_not_clip_describes_its_own_steps() -> None:
    slug = "mean.cwme-cdp"
    html = meaning(complete_study(replace(HARDEST, methods=("mean.sample", slug))), Theme())
    assert method_card(slug).summary in html
    assert not re.search("clip first", words_of(html))


def test_the_steps_say_that_an_optimiser_clips_gradients() -> None:
    scenario = Scenario(problem="logistic", n=500, d=5, methods=("sco.clipped",))
    assert "average → clip gradients first → add noise" in words_of(
        meaning(Study(scenario=scenario), Theme())
    )


@pytest.mark.parametrize("n", [500, 10_000, 10_000_000])
def test_the_names_of_the_records_have_room_beside_each_other(n: int) -> None:
    """The names do not overlap at any size of the picture, in letters of 12 pixels."""
    scenario = replace(HARDEST, n=n, grid=(500, n) if n > 500 else (n, 10_000))
    html = meaning(Study(scenario=scenario, role="hardest"), Theme())
    drawings = [base64.b64decode(code).decode() for code in re.findall(r"base64,([^']+)'", html)]
    (names,) = [drawing for drawing in drawings if "alike" in drawing]
    texts = re.findall(r"<text x='([\d.]+)'[^>]*>([^<]+)</text>", names)
    (near_start, near), (far_start, far) = [(float(x), text) for x, text in texts]
    width = float(re.findall(r"viewBox='0 0 (\d+) ", names)[0])
    assert near_start + 6.2 * len(near) < far_start
    assert far_start + 6.2 * len(far) <= width

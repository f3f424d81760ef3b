"""A screen that was drawn once is cached, and is reused only for identical input."""

from __future__ import annotations

from dataclasses import replace

from dpsco_app.figure.theme import Theme
from dpsco_app.front.screen import front_screen
from dpsco_app.front.study import Study
from dpsco_app.front.view import View
from dpsco_core.runs.study import study
from dpsco_core.scenario import Scenario

SCENARIO = Scenario(
    methods=("mean.sample", "mean.clipped"), axis="n", grid=(500, 1000), trials=2, n=1000
)
WHOLE = Study(scenario=SCENARIO, outcomes=tuple(study(SCENARIO)))


def test_a_drawn_screen_is_reused_only_for_identical_input() -> None:
    view, theme = View(), Theme()
    drawn_screen = front_screen((WHOLE,), view, theme)
    copied = replace(WHOLE, outcomes=tuple(replace(o) for o in WHOLE.outcomes))
    assert front_screen((copied,), view, theme) is drawn_screen
    last_outcome = WHOLE.outcomes[-1]
    wrong = replace(
        WHOLE, outcomes=(*WHOLE.outcomes[:-1], replace(last_outcome, error=2 * last_outcome.error))
    )
    half = replace(WHOLE, outcomes=WHOLE.outcomes[: len(WHOLE.outcomes) // 2])
    for changed in (wrong, half, replace(WHOLE, role="hardest")):
        new_screen = front_screen((changed,), view, theme)
        fresh = front_screen.__wrapped__((changed,), view, theme)
        assert new_screen == fresh
        assert new_screen != drawn_screen
    for surroundings in ((View(measure="price"), theme), (view, Theme(dark=True))):
        assert front_screen((WHOLE,), *surroundings).charts != drawn_screen.charts
    faded = front_screen((WHOLE,), view, theme, before=True)
    assert faded.head != drawn_screen.head
    assert faded.charts != drawn_screen.charts

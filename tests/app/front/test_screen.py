"""What was drawn once is shown again as it is, and only that."""

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


def test_what_was_drawn_is_shown_again_and_nothing_else_is_taken_for_it() -> None:
    view, theme = View(), Theme()
    first = front_screen((WHOLE,), view, theme)
    copied = replace(WHOLE, outcomes=tuple(replace(o) for o in WHOLE.outcomes))
    assert front_screen((copied,), view, theme) is first
    last = WHOLE.outcomes[-1]
    wrong = replace(WHOLE, outcomes=(*WHOLE.outcomes[:-1], replace(last, error=2 * last.error)))
    half = replace(WHOLE, outcomes=WHOLE.outcomes[: len(WHOLE.outcomes) // 2])
    for other in (wrong, half, replace(WHOLE, role="hardest")):
        made = front_screen((other,), view, theme)
        fresh = front_screen.__wrapped__((other,), view, theme)
        assert made == fresh
        assert made != first
    for around in ((View(measure="price"), theme), (view, Theme(dark=True))):
        assert front_screen((WHOLE,), *around).charts != first.charts
    before = front_screen((WHOLE,), view, theme, before=True)
    assert before.head != first.head
    assert before.charts != first.charts

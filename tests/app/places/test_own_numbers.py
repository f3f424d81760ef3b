"""One's own numbers set the scenario that matches their tail, and are told not to be private."""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_app.pages.explore.own_numbers import ABOUT, HAVE, fitting, in_words
from dpsco_core.explain.tails import tail
from dpsco_core.scenario import Scenario
from tests.app.pages import open_page


def test_the_scenario_that_matches_has_the_numbers_law_order_and_size() -> None:
    values = np.random.default_rng(0).random(4800) ** (-1 / 3)
    found = tail(values)
    matching = fitting(found, Scenario())
    assert (matching.distribution, matching.n) == ("skewed-pareto", 5000)
    assert 2 <= matching.p <= found.index - matching.margin
    said = in_words(found, matching, 1.234)
    assert f"{found.index:.2g}" in said and "4,800 numbers" in said and "1.23 in your" in said


def test_numbers_without_a_variance_are_told_that_no_bound_covers_them() -> None:
    values = np.random.default_rng(0).random(4800) ** (-1 / 1.1)
    matching = fitting(tail(values), Scenario())
    assert matching.p == 2 and "No bound here covers them" in in_words(tail(values), matching, 1.0)


def test_the_button_opens_the_dialog_that_says_what_the_look_is() -> None:
    page = open_page()
    (button,) = [b for b in page.button if b.key == "own_numbers"]
    page = button.click().run()
    assert not page.exception
    assert any("not private" in m.value for m in page.markdown)
    assert "not private" in ABOUT and "nothing is stored or sent" in " ".join(ABOUT.split())


@pytest.mark.parametrize(("moment", "said"), [(81.0, "is 3 in your"), (0.0, "moment must be pos")])
def test_a_moment_can_be_typed(moment: float, said: str) -> None:
    page = open_page()
    page.session_state["own_numbers_have"] = HAVE[1]
    page.session_state["own_numbers_p"] = 4.0
    page.session_state["own_numbers_moment"] = moment
    (button,) = [b for b in page.button if b.key == "own_numbers"]
    page = button.click().run()
    assert not page.exception
    assert any(said in text.value for text in (*page.markdown, *page.error))
    assert ("own_numbers_set" in [b.key for b in page.button]) == (moment > 0)

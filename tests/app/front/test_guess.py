"""A card asks for a guess before it opens, with exactly one right choice; a link opens it
directly.
"""

from __future__ import annotations

import json
import math

import pytest

from dpsco_app.figure.theme import Theme
from dpsco_app.front.questions.cards import Question
from dpsco_app.front.questions.guesses import PriceGuess
from dpsco_app.front.questions.tails import tail_price
from dpsco_app.front.study import chosen_point
from dpsco_app.front.titles import NO_BREAK
from dpsco_app.parts.options import rounded
from dpsco_app.parts.presets import FIRST
from dpsco_app.session.session import CURVES
from dpsco_app.static_page.visit import Visit, handle_messages
from dpsco_core.base.errors import InvalidInput


@pytest.fixture
def visit() -> Visit:
    """Return a visit whose first runs are done."""
    visit = Visit()
    visit.step(float("inf"))
    return visit


def cards(visit: Visit) -> list[Question]:
    """Finish the runs of a visit; return the questions that its screen offers."""
    visit.step(float("inf"))
    return list(visit.session.screen(Theme()).cards)


def headline_text(visit: Visit) -> str:
    """Return the headline of a visit's front page as plain text."""
    return visit.session.screen(Theme()).front.answer.plain


def test_exactly_one_choice_is_right_whatever_the_price_becomes() -> None:
    guess = PriceGuess(
        card="light", scenario=FIRST.scenario, question="", price=5.74, subject="it is"
    )
    assert guess.choices == ("under ×2.4", "×2.4 to ×5.7", "over ×5.7")
    places = [guess.place_of(price) for price in (0.3, 1.2, 2.34, 2.36, 5.7, 5.74, 5.76, 90.0)]
    assert places == [0, 0, 0, 1, 1, 1, 2, 2]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_the_card_on_lighter_tails_asks_for_a_guess_and_then_shows_guess_and_answer(
    visit: Visit, place: int
) -> None:
    before, address = headline_text(visit), visit.address
    visit.change("card", "light")
    (card,) = cards(visit)
    sentence = card.sentence.replace(NO_BREAK, " ")
    assert "Your guess at p = 10?" in sentence
    assert len(card.choices) == 3
    # The question gives nothing away: headline and address are unchanged.
    assert (headline_text(visit), visit.address) == (before, address)
    # Question and answer are of one quantity: a promise over the one without privacy.
    own_price = tail_price(FIRST.scenario, FIRST.scenario.p)
    point = FIRST.scenario.at(chosen_point(FIRST.scenario))
    root = f"√(d/n) = {rounded(math.sqrt(point.d / point.n))}"
    assert own_price is not None
    assert (
        f"A promise for all data is ×{own_price:.1f} that without privacy, {root}, at p = 2"
        in sentence
    )
    visit.change("guess", str(place))
    answer = cards(visit)[0].sentence
    price = tail_price(FIRST.scenario, 10.0)
    assert price is not None and f"the promise is ×{price:.1f}." in answer
    assert card.choices[place] in answer
    assert ("rightly" in answer) == (place == 0)
    assert "card=light" in visit.address and headline_text(visit) != before
    visit.change("card", "light")
    assert "card=" not in visit.address and headline_text(visit) == before


def test_the_textbook_data_run_only_after_the_guess(visit: Visit) -> None:
    visit.change("card", "data")
    (card,) = cards(visit)
    assert "Student t" in card.sentence and "×3.4" in card.sentence
    visit.change("guess", "2")
    answer = next(card.sentence for card in cards(visit) if card.slug == "data")
    assert answer.startswith("You guessed over ×3.4: measured is ×1.0.")


def test_a_second_press_or_any_move_closes_the_question(visit: Visit) -> None:
    count = len(cards(visit))
    for take_back in (("card", "light"), ("epsilon", 2.0)):
        visit.change("card", "light")
        assert len(cards(visit)) == 1
        visit.change(*take_back)
        assert len(cards(visit)) == count
    with pytest.raises(InvalidInput, match="guess must be asked for"):
        visit.change("guess", "0")
    handle_messages(visit, json.dumps([["change", "guess", "0"]]))
    assert visit.words


def test_a_card_without_a_single_number_and_a_link_open_at_once(visit: Visit) -> None:
    visit.change("card", "proof")
    assert "card=proof" in visit.address and len(cards(visit)) > 1
    visit.session.open(CURVES, {"card": "light"})
    assert not any(card.choices for card in cards(visit))
    assert "More records cure it" in headline_text(visit)

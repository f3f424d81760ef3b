"""A guess before an answer: the visitor predicts how a price changes, and then sees it."""

import math
from dataclasses import dataclass

from dpsco_app.front.costs import is_open
from dpsco_app.front.questions.tails import other_tail, promise_base_words, tail_price
from dpsco_app.front.study import Study, chosen_point
from dpsco_app.front.titles import NO_BREAK, ratio_text
from dpsco_app.parts.options import number_text
from dpsco_core.scenario import Scenario

P_IS = f"p{NO_BREAK}={NO_BREAK}"
LEAST_PRICE = 1.5  # A smaller price leaves no room for two smaller choices.


@dataclass(frozen=True, kw_only=True)
class PriceGuess:
    """The guess that a card asks for before it opens, and the visitor's choice."""

    card: str  # The slug of the question.
    scenario: Scenario  # The scenario on screen while the guess is asked for.
    question: str
    price: float  # The present price.
    subject: str  # The words before the true price in the reply, such as "measured is".
    chosen: int | None = None  # The index of the choice that the visitor has made.

    @property
    def ends(self) -> tuple[float, float]:
        """The prices between which the middle choice lies, rounded as they are shown."""
        return round(math.sqrt(self.price), 1), round(self.price, 1)

    @property
    def choices(self) -> tuple[str, str, str]:
        """The three ranges to guess from; one is right, whatever the price becomes."""
        low, high = (f"×{end:.1f}" for end in self.ends)
        return f"under {low}", f"{low} to {high}", f"over {high}"

    def place_of(self, price: float) -> int:
        """Return the index of the choice that contains a price, rounded to the shown digits."""
        low, high = self.ends
        rounded_price = round(price, 1)
        return 0 if rounded_price < low else 1 if rounded_price <= high else 2

    def reply(self, price: float) -> str:
        """Return the guess and the true price in one sentence."""
        assert self.chosen is not None
        verdict = "rightly " if self.chosen == self.place_of(price) else ""
        return (
            f"You {verdict}guessed {self.choices[self.chosen]}: "
            f"{self.subject} ×{ratio_text(price)}."
        )


def guess_of(study: Study, scenario: Scenario, card: str) -> PriceGuess | None:
    """Return the guess that a card asks for; None if its answer is not a single number."""
    if card == "light":
        price = tail_price(scenario, scenario.p)
        own_p, other_p = (f"p = {number_text(s.p)}" for s in (scenario, other_tail(scenario)))
        if price is None:
            return None
        factor = f"×{ratio_text(price)} {promise_base_words(scenario)}"
        now_text = f"A promise for all data is {factor}, at {own_p}."
        question = f"{now_text} Your guess at {other_p}?".replace("p = ", P_IS)
        subject = "the promise is"
    elif card == "data":
        price = price_now(study)
        data = "Student t data" if study.role == "hardest" else "the hardest data"
        now_text = f"Here privacy costs ×{ratio_text(price or 0.0)}."
        question, subject = f"{now_text} Your guess for {data}?", "measured is"
    else:
        return None
    if price is None or not LEAST_PRICE <= price < math.inf:
        return None
    return PriceGuess(card=card, scenario=scenario, question=question, price=price, subject=subject)


def price_now(study: Study) -> float | None:
    """Return the measured price at the chosen point; None if it is unknown."""
    row = study.row_at(study.lead, chosen_point(study.scenario))
    if row is None or row.price is None or not study.complete:
        return None
    return None if is_open(row.price) else row.price.value

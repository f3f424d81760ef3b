"""The questions below the single figure: one is open at a time, and its sentence is the answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from dpsco_app.figure.methods import short_names
from dpsco_app.front.bound_lines import FEW_BITS, proof_words, short_name
from dpsco_app.front.costs import TOO_FEW_TRIALS, cost_words
from dpsco_app.front.headline import is_steady, limit_prices, limit_text
from dpsco_app.front.pictures.data import far_records
from dpsco_app.front.questions.guesses import PriceGuess, price_now
from dpsco_app.front.questions.tails import (
    has_tails,
    other_tail,
    tail_price,
    tails_answer,
    tails_name,
)
from dpsco_app.front.study import Study, chosen_point, place
from dpsco_app.front.titles import ratio_text
from dpsco_app.parts.evaluations import (
    are_hardest_of_all,
    evaluations,
    hardest,
    has_hardest_law,
    region,
    without_data,
)
from dpsco_app.parts.options import inside, number_text, rounded
from dpsco_app.parts.shown_bounds import fano
from dpsco_core.catalogue import distribution_card, method_card
from dpsco_core.results.findings import LIGHT_FROM
from dpsco_core.results.report import Evaluation
from dpsco_core.scenario import Scenario

STEPS = 3  # The number of steps of the proof; further texts are remarks.
# What an answer adds to the sentence about the visitor's guess; the headline says the rest.
TOLD_MORE = {"data": " Nobody can promise that for all data."}
HARDLY = 1.15  # Two methods whose errors differ by at most this factor count as equal.


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question below the figure, with its answer if it is open."""

    slug: str
    title: str
    question: str
    # One or two sentences; empty if the card is closed or the answer is unknown.
    answer: str = ""
    steps: tuple[str, ...] = ()  # The steps of the answer, which stand below all cards.
    # The answers among which a visitor guesses before the card opens.
    choices: tuple[str, ...] = ()
    is_suggested: bool = False  # Whether a visitor is invited to begin with this card.

    @property
    def sentence(self) -> str:
        """The sentence on the card: the answer if there is one, and otherwise the question."""
        return self.answer or self.question


@lru_cache(maxsize=50)
def cards_of(
    study: Study, scenario: Scenario, chosen: str, guess: PriceGuess | None = None
) -> tuple[Question, ...]:
    """Return the cards below a figure: `scenario` is the visitor's, `chosen` the open card's slug.

    While a `guess` is still to be made, only its own card is shown, with the choices.
    """
    cards = _all_cards(study, scenario, chosen)
    if guess is None or guess.scenario != scenario:
        return cards
    if guess.chosen is None:
        asked_cards = (card for card in cards if card.slug == guess.card)
        return tuple(
            replace(card, question=guess.question, choices=guess.choices, is_suggested=False)
            for card in asked_cards
        )
    if chosen != guess.card:
        return cards
    price = tail_price(scenario, other_tail(scenario).p) if chosen == "light" else price_now(study)
    is_known = price is not None and (chosen == "light" or study.overlay is not None)
    if price is None or not is_known:
        return cards
    return tuple(
        replace(card, answer=guess.reply(price) + TOLD_MORE.get(chosen, ""))
        if card.slug == chosen
        else card
        for card in cards
    )


def _all_cards(study: Study, scenario: Scenario, chosen: str) -> tuple[Question, ...]:
    """Return the cards of all questions that apply; only the chosen one has its answer."""
    questions: list[Question | None] = []
    if has_tails(scenario):
        distance_words = "could lie farther" if scenario.p >= LIGHT_FROM else "could not lie so far"
        questions.append(
            Question(
                slug="light",
                title=tails_name(scenario),
                question=f"What if records {distance_words} out?",
                answer=tails_answer(scenario) if chosen == "light" else "",
            )
        )
    questions += [
        _data_card(study, scenario, chosen),
        _algorithms_card(study, chosen),
        _proof_card(study, scenario, chosen),
    ]
    questions.append(
        Question(
            slug="sliders",
            title="The sliders",
            question="What would each slider change?",
            answer=SLIDERS if chosen == "sliders" else "",
        )
    )
    first_card, *rest = (card for card in questions if card is not None)
    return replace(first_card, is_suggested=not chosen), *rest


SLIDERS = (
    "Above each slider: a promise for all data over the one without privacy. Lower is cheaper."
)


def _data_card(study: Study, scenario: Scenario, chosen: str) -> Question | None:
    """Return the card of other data: textbook data, or the hardest known; None without either."""
    if has_hardest_law(scenario):
        title, ask = "Textbook data", "What if the data are Student t, as in textbooks?"
    elif hardest(scenario) is not None:
        title, ask = "The hardest data known", "What if the data are as hard as can be?"
    else:
        return None
    answer = ""
    if chosen == "data" and study.overlay is not None:
        law = distribution_card(study.scenario.distribution).name
        name = "The hardest data known" if study.role == "hardest" else f"{law} data"
        answer = f"{name}: {_price_words(study)}."
        if has_hardest_law(scenario):
            answer += " Nobody can promise that for all data."
    return Question(slug="data", title=title, question=ask, answer=answer)


def _price_words(study: Study) -> str:
    """Return the measured price of privacy in words, or that it is being measured."""
    row = study.row_at(study.lead, chosen_point(study.scenario))
    if row is None or row.price is None or not study.complete:
        return "being measured"
    return cost_words(row.price, "").strip()


def _algorithms_card(study: Study, chosen: str) -> Question | None:
    """Return the card that compares the private algorithms; None if fewer than two are chosen."""
    x = chosen_point(study.scenario)
    private = [m for m in study.scenario.methods if method_card(m).privacy != "none"]
    if len(private) < 2:
        return None
    answer = ""
    lead = study.row_at(study.lead, x)
    if chosen == "others" and lead is not None and study.complete:
        names = short_names(study.scenario.methods)
        rows = [(m, row) for m in private if m != study.lead and (row := study.row_at(m, x))]
        factors = [
            f"{inside(names[m])} {ratio_text(row.price.value)}"
            for m, row in rows
            if row.price is not None and cost_words(row.price, "") != TOO_FEW_TRIALS
        ]
        matters = any(row.mean > HARDLY * lead.mean for _, row in rows)
        if factors:
            listing = (
                f"{factors[0]} times"
                if len(factors) == 1
                else f"{factors[0]} times, {', '.join(factors[1:])}"
            )
            answer = f"{'Yes' if matters else 'Hardly'}: {listing}."
    return Question(
        slug="others",
        title="Other algorithms",
        question="Does it matter which one I take?",
        answer=answer,
    )


# -- the proof ------------------------------------------------------------------------------------


def _proof_card(study: Study, scenario: Scenario, chosen: str) -> Question | None:
    """Return the card of the proof; None if no limit is proven on these data."""
    floors = dict(region(scenario))
    if not floors:
        return None
    x = chosen_point(scenario)
    limit, blind = floors[x], without_data(scenario.at(x))
    answer, steps = "", []
    if chosen == "proof":
        answer = (
            f"Hiding any one person takes an error of {rounded(limit.value)} or more: see below."
        )
        steps = list(_steps(study, scenario, x, limit, blind))
    return Question(
        slug="proof",
        title="The proof",
        question="Why can nobody do better?",
        answer=answer,
        steps=tuple(steps),
    )


def _steps(
    study: Study, scenario: Scenario, x: float | None, limit: Evaluation, blind: float
) -> Iterator[str]:
    """Yield the proof in three steps with the numbers of the chosen point, and remarks after it.

    `limit` is the proven limit there, and `blind` the error of an answer without data.
    """
    limits = limit_prices(study) if study.scenario == scenario else {}
    rare = scenario.at(x).setting.spike_probability
    records = scenario.at(x).n
    if rare is not None:
        count = max(1, round(rare * records))
        yield (
            f"Of {number_text(records)} records about {number_text(count)} are far out, and they "
            f"alone carry the mean. Everything else is 0.{_more_records(scenario, x, limits)}"
        )
    else:
        yield "Move the mean a little: each record tells a little about where it went."
    yield (
        "Hiding any one person hides these few: with a small budget the output looks nearly the "
        "same wherever they point, so that any guess is often wrong."
        if rare is not None
        else "Hiding any one person caps what the output may tell of each record, so that it "
        "cannot find the mean more closely."
    )
    price = limits.get(place(x))
    times = f", {limit_text(price)} times the error without privacy" if price and price >= 1 else ""
    yield f"So the average error is at least {rounded(limit.value)}{times}."
    row = study.row_at(study.lead, x) if study.scenario == scenario else None
    if row is not None and 0 < 0.95 * blind <= row.mean:
        yield (
            f"An answer that ignores the data has error {rounded(blind)}, as good as the private "
            "one: the hardest data carry just so little signal that hiding one person hides it all."
        )
    yield f"The edge of the red region is proven by {proof_words(limit.bound.card)}."
    slug = fano(scenario)
    fano_limit = evaluations(scenario.at(x), (slug,))[0] if slug else None
    if fano_limit is not None and slug != limit.bound.card.slug and fano_limit.value > 0:
        name, fewer = short_name(fano_limit.bound.card), ""
        if fano_limit.bound.card.privacy == "zcdp" and scenario.rho is None:
            fewer = ", for algorithms that satisfy zCDP, as those with Gaussian noise"
        yield (
            f"{name}, the thin red line, is a second proof{fewer}: {FEW_BITS}. It gives "
            f"an error of at least {rounded(fano_limit.value)}."
        )


def _more_records(scenario: Scenario, x: float | None, limits: Mapping[float, float]) -> str:
    """Return why more records do not change the limit's ratio; empty if they do."""
    outliers = far_records(scenario)
    is_same = outliers is not None and outliers.is_steady and is_steady(limits)
    if outliers is None or not is_same or not are_hardest_of_all(scenario, x):
        return ""
    return (
        f" With more records the hardest data again have about {number_text(outliers.count)}, "
        "farther out: so the ratio stays."
    )

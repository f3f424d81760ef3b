"""The story of every method, those of plugins included, and its example."""

from dpsco_core.base.cards import MethodCard
from dpsco_core.catalogue import default_methods, method_card, method_class
from dpsco_core.methods.story import Proof, Story
from dpsco_core.scenario import Scenario
from dpsco_core.words.stories import read_story

RECORDED = Proof(
    sensitivity="Its own file says how far one record can move what is released; the ledger "
    "records it.",
    mechanism="The ledger draws the noise, as large as that sensitivity and its share of the "
    "budget ask for.",
    composition="The ledger adds all releases up, and refuses the one that would exceed the "
    "budget.",
)


def story(slug: str) -> Story:
    """Return the story of a method; raises `InvalidInput` for an unknown slug."""
    return method_class(slug).story or read_story(slug) or _story_from_card(method_card(slug))


def example(slug: str) -> Scenario:
    """Return the small study of a method's story."""
    return Scenario(**story(slug).example)


def example_point(slug: str) -> Scenario:
    """Return the chosen point of a method's example, with the method alone and a single trial."""
    values = example(slug).to_dict() | {"axis": None, "grid": (), "trials": 1}
    return Scenario(**(values | {"methods": (slug,)}))


def _story_from_card(card: MethodCard) -> Story:
    """Return a story made from the card of a method without one."""
    problem = card.problems[0]
    public = next(m for m in default_methods(problem) if method_card(m).privacy == "none")
    lq = card.geometry == "lq"
    return Story(
        what=card.summary,
        steps=("Plan the parameters from the setting.", "Release through the ledger."),
        assumptions=("Those of its statement, which its bounds check.",),
        privacy=None if card.privacy == "none" else RECORDED,
        smooth="no loss" if "mean" in card.problems else "nothing",
        order=r"\text{not stated}",
        cost="Its own file says what it costs.",
        when="Where its author says; the figure on Explore compares it with the others.",
        pitfalls=("It is not built in: the tests of the library are not about it.",),
        example={
            "problem": problem,
            "methods": (public, card.slug),
            "n": 2000,
            "d": 10,
            "m": 4 if card.level == "user" else 1,
            "delta": 0.0 if card.privacy == "pure" else 1e-6,
            "geometry": "lq" if lq else "l2",
            "q": 1.5 if lq else None,
            "trials": 5,
        },
    )

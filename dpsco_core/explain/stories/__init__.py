"""Every method of the catalogue in plain words: for the page Algorithms and `dpsco about`."""

from dpsco_core.base.cards import MethodCard
from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import METHOD_SLUGS, default_methods, method_card
from dpsco_core.explain.stories.adaptive import ADAPTIVE_STORIES
from dpsco_core.explain.stories.base import Proof, Story
from dpsco_core.explain.stories.lp import LP_STORIES
from dpsco_core.explain.stories.mean import MEAN_STORIES
from dpsco_core.explain.stories.sco_heavy import HEAVY_STORIES
from dpsco_core.explain.stories.sco_plain import PLAIN_STORIES
from dpsco_core.explain.stories.user import USER_STORIES
from dpsco_core.scenario import Scenario

_ALL = (
    *MEAN_STORIES,
    *ADAPTIVE_STORIES,
    *HEAVY_STORIES,
    *PLAIN_STORIES,
    *LP_STORIES,
    *USER_STORIES,
)
STORIES: dict[str, Story] = {
    slug: story for slug in METHOD_SLUGS for story in _ALL if story.slug == slug
}
RECORDED = Proof(
    sensitivity="Its own file says how far one record can move what is released; the ledger "
    "records it.",
    mechanism="The ledger draws the noise, as large as that sensitivity and its share of the "
    "budget ask for.",
    composition="The ledger adds all releases up, and refuses the one that would exceed the "
    "budget.",
)
# What must be smooth, as `Story.smooth` has it, in words.
SMOOTH_WORDS = {
    "-": "no loss",
    "no": "nothing",
    "theorem": "the risk, for its theorem",
    "risk": "the risk",
    "losses": "every loss",
    "twice": "every loss, twice",
}


def story(slug: str) -> Story:
    """Return the story of a method; raises `InvalidInput` for an unknown slug."""
    one_of("method", slug, METHOD_SLUGS)
    return STORIES.get(slug) or _of_card(method_card(slug))


def _of_card(card: MethodCard) -> Story:
    """Return what the card of a method of one's own tells."""
    problem = card.problems[0]
    public = next(m for m in default_methods(problem) if method_card(m).privacy == "none")
    lq = card.geometry == "lq"
    return Story(
        slug=card.slug,
        what=card.summary,
        steps=("Plan the parameters from the setting.", "Release through the ledger."),
        assumptions=("Those of its statement, which its bounds check.",),
        privacy=None if card.privacy == "none" else RECORDED,
        smooth="-" if "mean" in card.problems else "no",
        order=r"\text{not stated}",
        cost="Its own file says what it costs.",
        when="Where its author says; the figure on Explore compares it with the others.",
        pitfalls=("It is not built in: the tests of the library are not about it.",),
        example=Scenario(
            problem=problem,
            methods=(public, card.slug),
            n=2000,
            d=10,
            m=4 if card.level == "user" else 1,
            delta=0.0 if card.privacy == "pure" else 1e-6,
            geometry="lq" if lq else "l2",
            q=1.5 if lq else None,
            trials=5,
        ),
    )


__all__ = ["SMOOTH_WORDS", "STORIES", "Proof", "Story", "story"]

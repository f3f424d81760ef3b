"""Every method of the catalogue in plain words: for the page Algorithms and `dpsco about`."""

from dpsco_core.base.parsing import one_of
from dpsco_core.catalogue import METHOD_SLUGS
from dpsco_core.explain.stories.adaptive import ADAPTIVE_STORIES
from dpsco_core.explain.stories.base import Proof, Story
from dpsco_core.explain.stories.lp import LP_STORIES
from dpsco_core.explain.stories.mean import MEAN_STORIES
from dpsco_core.explain.stories.sco_heavy import HEAVY_STORIES
from dpsco_core.explain.stories.sco_plain import PLAIN_STORIES
from dpsco_core.explain.stories.user import USER_STORIES

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
    return STORIES[slug]


__all__ = ["SMOOTH_WORDS", "STORIES", "Proof", "Story", "story"]

"""The code on the page of a method is the code that runs: its runner, and the parts it calls."""

from __future__ import annotations

from dpsco_core.catalogue import METHOD_SLUGS, method_class
from dpsco_core.explain.methods.source import release_source
from dpsco_core.methods.average import Averaging
from dpsco_core.methods.phases import PhasedMethod
from tests.folded import each

DESCENT = {"Statistic.measuring", "NoisyStatistic.take", "Descent.run"}


@each("slug", METHOD_SLUGS)
def test_a_page_shows_the_runner_first_and_the_purpose_of_its_parts(slug: str) -> None:
    titles = [source.title for source in release_source(slug)]
    kind = method_class(slug)
    assert titles[0] == kind.release.__qualname__ and len(titles) == len(set(titles))
    ends = {title.rpartition(".")[2] for title in titles}
    if issubclass(kind, Averaging):
        assert "estimate" in ends and not DESCENT & set(titles)
    if issubclass(kind, PhasedMethod):
        assert ends & {"open", "run"} and len(titles) > 2

"""The code that the page of a method shows is what runs: its runner, and what its parts do."""

from __future__ import annotations

from dpsco_core.explain.methods.source import release_source
from tests.folded import each

RUNS = {  # a step that a reader must find, and the runner before it
    "mean.clipped": ("Averaging.release", "clipped_sum"),
    "mean.iterative": ("Averaging.release", "deep_point"),
    "mean.adaptive": ("Averaging.release", "AdaptiveMean.estimate"),
    "user.mean-clipped": ("Averaging.release", "clipped_mean"),
    "sco.phased-sgd": ("PhasedMethod.release", "phase_average"),
    "sco.output-perturbation": ("PhasedMethod.release", "phase_minimiser"),
    "user.phased-sgd": ("PhasedMethod.release", "release_mean"),
    "user.accelerated": ("PhasedMethod.release", "run_phase"),
    "lp.frank-wolfe": ("Descending.release", "corner_scores"),
}


@each("slug", tuple(RUNS))
def test_a_page_shows_the_runner_first_and_the_step_that_it_is_about(slug: str) -> None:
    titles = [source.title for source in release_source(slug)]
    runner, step = RUNS[slug]
    assert titles[0] == runner and step in titles
    assert len(titles) == len(set(titles))


@each("slug", [slug for slug in RUNS if RUNS[slug][0] == "Averaging.release"])
def test_the_page_of_a_mean_shows_no_step_of_a_descent(slug: str) -> None:
    titles = {source.title for source in release_source(slug)}
    assert not titles & {"Statistic.measuring", "NoisyStatistic.take", "Descent.run"}

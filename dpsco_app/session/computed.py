"""Values that pages compute from runs, cached for every visit of the process.

Each value depends on a scenario alone. The returned objects are shared, so do not change them.
"""

from functools import lru_cache

from dpsco_core.explain import anatomy
from dpsco_core.explain.frames import Frames, frames
from dpsco_core.explain.lessons import run_part
from dpsco_core.scenario import Scenario

single_runs = lru_cache(maxsize=100)(anatomy.single_runs)
gradient_norms = lru_cache(maxsize=100)(anatomy.gradient_norms)
error_split = lru_cache(maxsize=20_000)(anatomy.error_split)
rows_of = lru_cache(maxsize=1000)(run_part)


@lru_cache(maxsize=100)
def frames_of(point: Scenario, method: str, factor: float) -> Frames:
    """Return the stages of a single run, for the animation of its picture."""
    return frames(point, single_runs(point, method, factor))

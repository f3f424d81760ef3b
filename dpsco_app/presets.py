"""Named scenarios, each with the one thing to look for."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A scenario that makes one point."""

    name: str
    look_for: str
    scenario: Scenario

    @property
    def kind(self) -> str:
        """Which of `KINDS` it belongs to."""
        return "mean" if self.scenario.problem == "mean" else "optimisation"


KINDS = {"mean": "Mean estimation", "optimisation": "Optimisation"}

GRID_N = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
GRID_EPSILON = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)

PRESETS: tuple[Preset, ...] = (
    Preset(
        name="Heavy tails hurt",
        look_for="Only a variance is known (p = 2). Every private line runs 2 to 5 times above the "
        "grey one, and a hundred times more records do not close the gap: noise must hide records "
        "of any size.",
        scenario=Scenario(
            p=2,
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.smoothed"),
            axis="n",
            grid=GRID_N,
            trials=10,
        ),
    ),
    Preset(
        name="Hardest input",
        look_for="The data are the hard instance of the lower bound. On average over the trials no "
        "line of a private estimator may enter the shaded region, and none does. The grey one may: "
        "it is not private.",
        scenario=Scenario(
            distribution="hypercube",
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.smoothed"),
            axis="n",
            grid=GRID_N,
            trials=20,
        ),
    ),
    Preset(
        name="Privacy is free",
        look_for="As ε grows the private lines fall onto the grey one, simple clipping at about "
        "ε = 2: from there on the sample size, not privacy, limits the accuracy.",
        scenario=Scenario(
            p=4,
            n=50_000,
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp"),
            axis="epsilon",
            grid=GRID_EPSILON,
            trials=10,
        ),
    ),
    Preset(
        name="Dimension bites",
        look_for="Up to d = 20 the two coordinate-wise estimators are level. Beyond, Laplace noise "
        "(pure privacy) grows faster with d than Gaussian noise: compare their slopes below.",
        scenario=Scenario(
            n=20_000,
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.cwme-pure"),
            axis="d",
            grid=(2, 5, 10, 20, 50, 100),
            trials=10,
        ),
    ),
    Preset(
        name="Theory's constants",
        look_for="With the theorem's own parameters the coordinate-wise estimator errs more than "
        "the trivial answer 0, whose error is ‖μ‖ = 1, and iterative updating answers just that 0. "
        "Rates hide such constants.",
        scenario=Scenario(
            methods=(
                "mean.sample",
                "mean.clipped",
                "mean.iterative",
                "mean.cwme-cdp",
                "mean.smoothed",
            ),
            axis="n",
            grid=(5000, 10_000, 20_000, 50_000, 100_000),
            trials=5,
            tuning="theory",
            calibration="paper",
        ),
    ),
    Preset(
        name="Lighter tails help",
        look_for="The more moments exist, the smaller the radius that loses nothing, and the less "
        "noise is needed: simple clipping and the coordinate-wise estimator fall with p. Noise "
        "smoothing uses only the variance, and soon stops gaining.",
        scenario=Scenario(
            methods=("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.smoothed"),
            axis="p",
            grid=(2, 2.5, 3, 4, 6, 10),
            trials=10,
        ),
    ),
)
DEFAULT = PRESETS[0]

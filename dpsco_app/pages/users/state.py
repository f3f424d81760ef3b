"""What the controls and the address of the page Users hold."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_app.parts.page import Scene
from dpsco_app.shell.page_state import PageState
from dpsco_core.base.limits import SEED_MAX
from dpsco_core.base.parsing import one_of, real, whole
from dpsco_core.explain.users.crossing import FILTERED, PLAIN
from dpsco_core.explain.users.regions import BASES, LOSSES
from dpsco_core.methods.user.level import UserLevel

OTHERS = ("user.phased-sgd", "user.accelerated-strong", "user.group-privacy")
N_OPTIONS = (500, 1000, 2000, 3000, 5000, 10_000, 20_000, 30_000, 50_000, 100_000)
M_OPTIONS = (1, 10, 100, 1000, 10_000, 100_000, 1_000_000)
D_OPTIONS = (2, 5, 10, 20)
EPSILON_OPTIONS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
DELTA_OPTIONS = (1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4)
CONDITION_OPTIONS = (0.01, 0.1, 1, 10, 100)
TRIALS_OPTIONS = (2, 5, 10, 20, 50)


@dataclass(frozen=True, kw_only=True)
class View:
    """What the page shows.

    Parameters
    ----------
    n, m, d : int
        Users, items per user, dimension.
    epsilon, delta : float
        The budget of one user.
    condition : float
        Smoothness in units of L/R.
    basis : str
        What the map compares: one of `dpsco_core.explain.users.regions.BASES`.
    loss : str
        Of the rates: one of `dpsco_core.explain.users.regions.LOSSES`.
    also : str
        Further methods that are measured, of `OTHERS`, separated by commas.
    trials, seed : int
        Of the measured crossover.
    """

    n: int = 10_000
    m: int = 100
    d: int = 10
    epsilon: float = 1.0
    delta: float = 1e-6
    condition: float = 1.0
    basis: str = "rates"
    loss: str = "smooth"
    also: str = ""
    trials: int = 10
    seed: int = 0

    def validate(self) -> View:
        """Return the view; raises `InvalidInput` in one sentence."""
        whole("n", self.n, N_OPTIONS[0], N_OPTIONS[-1])
        whole("m", self.m, 1, M_OPTIONS[-1])
        whole("d", self.d, 1, D_OPTIONS[-1])
        real("epsilon", self.epsilon, EPSILON_OPTIONS[0], EPSILON_OPTIONS[-1])
        real("delta", self.delta, DELTA_OPTIONS[0], DELTA_OPTIONS[-1])
        real("condition", self.condition, CONDITION_OPTIONS[0], CONDITION_OPTIONS[-1])
        one_of("basis", self.basis, BASES)
        one_of("loss", self.loss, LOSSES)
        for slug in self.others:
            one_of("also", slug, OTHERS)
        whole("trials", self.trials, TRIALS_OPTIONS[0], TRIALS_OPTIONS[-1])
        whole("seed", self.seed, 0, SEED_MAX)
        return self

    @property
    def others(self) -> tuple[str, ...]:
        """The further methods, in the order of `OTHERS` where they are known."""
        named = [slug for slug in self.also.split(",") if slug]
        return tuple(dict.fromkeys(named))

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods that are measured."""
        return (FILTERED, PLAIN, *self.others)

    @property
    def level(self) -> UserLevel:
        """The chosen point, in units of L and R."""
        return UserLevel(
            n=self.n,
            m=self.m,
            d=self.d,
            epsilon=self.epsilon,
            delta=self.delta,
            smoothness=self.condition,
        )


DEFAULT = View()
STATE = PageState(name="users", default=DEFAULT, lists=("also",))


SCENES = (
    Scene(
        name="Where the filter pays",
        look_for="n = 10,000 and ε = 1: clipped means do not get better with m, the filtered mean "
        "does, and they cross near a thousand items per user.",
        changes={"n": 10_000, "d": 10, "epsilon": 1.0, "delta": 1e-6, "trials": 10, "also": ""},
    ),
    Scene(
        name="More budget, earlier",
        look_for="At ε = 5 the test takes a smaller share of the users away: the crossover comes "
        "at fewer items.",
        changes={"n": 10_000, "d": 10, "epsilon": 5.0, "delta": 1e-6, "trials": 10},
    ),
    Scene(
        name="Few users",
        look_for="With 2,000 users the printed constants are out of reach, and the calibrated ones "
        "run with a noise that only many items make small.",
        changes={"n": 2000, "d": 10, "epsilon": 1.0, "delta": 1e-6},
    ),
    Scene(
        name="The constant is proven",
        look_for="With every constant in place, group privacy has the smallest bound nearly "
        "everywhere; the filters win at a million items per user.",
        changes={"basis": "proven"},
    ),
)

"""Mean estimators: over a pass of the memory, over BLAS, and beside public peers.

Peers are measured where they are installed (the `bench` extra), and said to be missing otherwise.
All of them get the same rows, already in memory, and add their noise.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.growth import MEANS
from benchmarks.timing import Work, ratios
from dpsco_core.catalogue import make_method
from dpsco_core.data import DenseRows
from dpsco_core.privacy import Ledger
from dpsco_core.scenario import Scenario

N, D = 100_000, 100
LEVEL = 5.0  # The level at which the other libraries clip every coordinate.
RADIUS = 20.0  # The radius to which the plain version clips every row.
LAWS = ("student-t", "pareto", "skewed-pareto", "log-normal", "gaussian", "elliptical-t")


def time_over_memory() -> tuple[dict[str, float], dict[str, float]]:
    """Return every estimator's time over `x.mean(axis=0)`, and some over the BLAS product ``1'x``.

    Both are ratios by name, at n = 100,000 and d = 100.
    """
    scenario = Scenario(n=N, d=D)
    rng = np.random.default_rng(0)
    rows = scenario.instance.problem.sample(N, rng)
    unit_weights = np.ones(N)
    works = make_releases(scenario, rows, rng)
    for name, peer in PEERS.items():
        if peer.is_installed():
            works[name] = peer.make(rows.x, rng)
    blas = {slug: works[slug] for slug in ("mean.sample", "mean.clipped", "mean.cwme-cdp")}
    return ratios(lambda: rows.x.mean(axis=0), works), ratios(lambda: unit_weights @ rows.x, blas)


def make_releases(scenario: Scenario, rows: DenseRows, rng: np.random.Generator) -> dict[str, Work]:
    """Return the work of a release from these rows by each estimator, by slug."""
    setting = scenario.setting

    def release(slug: str) -> Work:
        """Return the work of a release by a method."""
        method = make_method(slug, "tight", "practical")
        plan = method.plan(setting)
        return lambda: method.release(rows, plan, Ledger(setting.budget), rng)

    return {slug: release(slug) for slug in MEANS}


def time_sampling() -> dict[str, float]:
    """Return the time to draw from each law over that of numpy's `standard_t`, by law."""
    rng = np.random.default_rng(0)
    shape = (20_000, D)
    problems = {law: Scenario(distribution=law, d=D).instance.problem for law in LAWS}
    return ratios(
        lambda: rng.standard_t(3.5, size=shape),
        {law: (lambda p=p: p.sample(shape[0], rng)) for law, p in problems.items()},
    )


Make = Callable[[np.ndarray, np.random.Generator], Work]


@dataclass(frozen=True, kw_only=True)
class Peer:
    """Another library's private mean: its package, and a function that creates the task."""

    package: str
    make: Make

    def is_installed(self) -> bool:
        """Return whether the library is installed."""
        return importlib.util.find_spec(self.package) is not None


def missing_peers() -> list[str]:
    """Return the names of the other libraries that are not installed."""
    return [name for name, peer in PEERS.items() if not peer.is_installed()]


def _plain_rows(x: np.ndarray, rng: np.random.Generator) -> Work:
    """Return the work of a noisy mean in plain numpy, with every row clipped to `RADIUS`."""

    def work() -> np.ndarray:
        """Return the clipped mean with Gaussian noise."""
        norms = np.linalg.norm(x, axis=1)
        clipped = x * np.minimum(1.0, RADIUS / norms)[:, None]
        return clipped.mean(axis=0) + rng.normal(scale=0.01, size=x.shape[1])

    return work


def _plain_columns(x: np.ndarray, rng: np.random.Generator) -> Work:
    """Return the work of a noisy mean in plain numpy, with every coordinate clipped to `LEVEL`."""
    return lambda: np.clip(x, -LEVEL, LEVEL).mean(axis=0) + rng.normal(0, 0.01, x.shape[1])


def _diffprivlib(x: np.ndarray, rng: np.random.Generator) -> Work:
    """Return the work of a private mean by diffprivlib."""
    from diffprivlib.tools import mean

    bounds = (np.full(x.shape[1], -LEVEL), np.full(x.shape[1], LEVEL))

    def work() -> object:
        """Return the private mean."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The libraries warn about their random generator.
            return mean(x, axis=0, epsilon=1.0, bounds=bounds)

    return work


def _opendp(x: np.ndarray, rng: np.random.Generator) -> Work:
    """Return the work of opendp's noisy clamped mean of each column, copied in advance."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(x))
    clamp = dp.t.then_clamp((-LEVEL, LEVEL))
    noise = dp.m.then_gaussian(scale=0.01)
    measure = (domain, dp.symmetric_distance()) >> clamp >> dp.t.then_mean() >> noise
    columns = [np.ascontiguousarray(column) for column in x.T]
    return lambda: [measure(column) for column in columns]


PEERS = {
    "numpy: rows clipped, as written down": Peer(package="numpy", make=_plain_rows),
    "numpy: entries clipped, as written": Peer(package="numpy", make=_plain_columns),
    "diffprivlib: mean, Laplace": Peer(package="diffprivlib", make=_diffprivlib),
    "opendp: clamped mean, Gaussian": Peer(package="opendp", make=_opendp),
}

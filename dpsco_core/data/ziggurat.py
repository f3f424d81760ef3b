r"""Fast exact draws from symmetric unimodal densities, many at a time.

The area under the density is covered by layers of equal area (Marsaglia and Tsang 2000, J. Stat.
Software 5(8)). A word of 64 random bits selects a layer and a place in it, and about 99 % of the
places certainly lie under the density. The rest are decided together at the end of a block: in the
lowest layer a place beyond its edge becomes a draw from the tail; in other layers a uniform height
decides, and rejected places are redrawn by a slower exact method. Places have 53 bits and a sign,
one bit more than in numpy's normal generator.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import beta, ndtr, stdtr

from dpsco_core.base.arrays import Vector
from dpsco_core.data.blocks import random_words

# A part of this length takes 128 KiB, so that it and its working copies fit a core's cache.
PART = 1 << 14
# The number of layers is a power of two, since the lowest bits of a word select the layer.
LAYERS = 512
PLACE_BITS = 53
SPARE_BITS = 64 - 1 - PLACE_BITS  # the number of bits that select the layer


class DensityShape(ABC):
    """A density f on the line up to a factor: symmetric, decreasing away from 0, f(0) = 1."""

    @abstractmethod
    def density(self, x: Vector) -> Vector:
        """Return the density f at every x."""

    @abstractmethod
    def inverse(self, height: float) -> float:
        """Return the x >= 0 with f(x) = height, for a height in (0, 1]."""

    @abstractmethod
    def tail_area(self, x: float) -> float:
        """Return the integral of f beyond x > 0."""

    @abstractmethod
    def draw_directly(self, count: int, rng: np.random.Generator) -> Vector:
        """Return `count` draws from f."""

    @abstractmethod
    def propose_tail(self, edge: float, count: int, rng: np.random.Generator) -> Vector:
        """Return `count` proposals x beyond the edge.

        They follow the law of the tail if each is kept with probability edge/x.
        """

    def draw_tail(self, edge: float, count: int, rng: np.random.Generator) -> Vector:
        """Return `count` draws from f beyond the edge, by rejection; about half are accepted."""
        accepted = np.empty(0)
        while accepted.size < count:
            x = self.propose_tail(edge, 2 * (count - accepted.size) + 8, rng)
            accepted = np.concatenate((accepted, x[rng.random(x.size) * x < edge]))
        return accepted[:count]


@dataclass(frozen=True)
class StudentShape(DensityShape):
    r"""Student's density :math:`(1 + x^2/\nu)^{-(\nu+1)/2}`, :math:`\nu > 1`."""

    nu: float

    @property
    def _half_exponent(self) -> float:
        r"""Return the exponent :math:`(\nu+1)/2` of the density."""
        return 0.5 * (self.nu + 1)

    def density(self, x: Vector) -> Vector:
        """Return the density at x, up to a factor that makes it 1 at 0."""
        return np.asarray(np.exp(-self._half_exponent * np.log1p(x * x / self.nu)))

    def inverse(self, height: float) -> float:
        """Return the positive x at which the density has this height."""
        return math.sqrt(self.nu * math.expm1(-math.log(height) / self._half_exponent))

    def tail_area(self, x: float) -> float:
        """Return the area under the unnormalised density beyond x."""
        area = math.sqrt(self.nu) * float(beta(0.5 * self.nu, 0.5))
        return area * float(stdtr(self.nu, -x))

    def draw_directly(self, count: int, rng: np.random.Generator) -> Vector:
        """Return draws from Student's law by the polar method (Bailey 1994, Math. Comp. 62).

        A coordinate of the two-dimensional t is Student: its squared radius R^2 has
        P(R^2 > r) = (1 + r/nu)^(-nu/2), and its angle is uniform.
        """
        nu = self.nu
        squares = nu * np.expm1(rng.standard_exponential(count) * (2 / nu))
        return np.asarray(np.sqrt(squares) * np.sin(2 * math.pi * rng.random(count)))

    def propose_tail(self, edge: float, count: int, rng: np.random.Generator) -> Vector:
        r"""Return proposals x beyond the edge, drawn as :math:`w = -\log f(x)`.

        In the tail the density of w is :math:`e^{-(1-c)w}/x(w)`, with c = 2/(nu+1): that of an
        exponential variable which is kept with probability edge/x.
        """
        nu, half = self.nu, self._half_exponent
        lowest = half * math.log1p(edge * edge / nu)
        w = lowest + rng.standard_exponential(count) / (1 - 1 / half)
        return np.asarray(np.sqrt(nu * np.expm1(w / half)))


@dataclass(frozen=True)
class NormalShape(DensityShape):
    """The normal density, exp(-x^2/2)."""

    def density(self, x: Vector) -> Vector:
        """Return the density at x, up to a factor that makes it 1 at 0."""
        return np.asarray(np.exp(-0.5 * x * x))

    def inverse(self, height: float) -> float:
        """Return the positive x at which the density has this height."""
        return math.sqrt(-2 * math.log(height))

    def tail_area(self, x: float) -> float:
        """Return the area under the density beyond x."""
        return math.sqrt(2 * math.pi) * float(ndtr(-x))

    def draw_directly(self, count: int, rng: np.random.Generator) -> Vector:
        """Return `count` draws from the normal law."""
        return rng.standard_normal(count)

    def propose_tail(self, edge: float, count: int, rng: np.random.Generator) -> Vector:
        """Return proposals with x^2/2 = edge^2/2 + E, where E is exponential."""
        return np.asarray(np.sqrt(edge * edge + 2 * rng.standard_exponential(count)))


@dataclass(frozen=True, eq=False)
class Ziggurat:
    """The layers that cover a density."""

    shape: DensityShape
    edge: float  # the point at which the tail begins
    # the widths of the layers over 2^53, the number of places on either side, shape (LAYERS,)
    widths: Vector
    # Places below these numbers lie under the density and before the tail, shape (LAYERS,).
    sure_places: NDArray[np.int64]
    # A layer covers the heights from `heights` to `heights + steps`, both of shape (LAYERS,).
    heights: Vector
    steps: Vector

    def fill(self, out: Vector, rng: np.random.Generator, scale: float = 1.0) -> None:
        """Overwrite a contiguous one-dimensional array with independent draws, times the scale.

        The generator must give words of 64 bits: see `random_words`.
        """
        widths = self.widths * scale
        size = min(out.size, PART)
        layer, sure = np.empty(size, dtype=np.intp), np.empty(size, dtype=np.int64)
        unsure = np.empty(size, dtype=bool)
        places, layers = [], []
        for low in range(0, out.size, PART):
            part = out[low : low + PART]
            k, s, u = layer[: part.size], sure[: part.size], unsure[: part.size]
            words = random_words(part.size, rng)
            np.bitwise_and(words, LAYERS - 1, out=k)
            np.right_shift(words, SPARE_BITS, out=words)
            # The mode "clip" spares numpy a copy; no index is out of range.
            np.take(widths, k, out=part, mode="clip")
            np.multiply(part, words, out=part)
            np.take(self.sure_places, k, out=s, mode="clip")
            np.abs(words, out=words)
            np.greater_equal(words, s, out=u)
            doubtful = np.flatnonzero(u)
            layers.append(k[doubtful])
            doubtful += low
            places.append(doubtful)
        self._decide_doubtful_draws(out, np.concatenate(places), np.concatenate(layers), scale, rng)

    def _decide_doubtful_draws(
        self,
        out: Vector,
        places: NDArray[np.intp],
        layers: NDArray[np.intp],
        scale: float,
        rng: np.random.Generator,
    ) -> None:
        """Accept or redraw the entries of `out` at `places`, which may lie outside the density.

        `layers`, as many as `places`, are the numbers of their layers.
        """
        x = out[places] / scale
        lowest = layers == 0
        heights = self.heights[layers] + self.steps[layers] * rng.random(x.size)
        rejected = ~(lowest | (heights < self.shape.density(x)))
        tail = np.flatnonzero(lowest)
        redrawn = np.flatnonzero(rejected)
        x[tail] = np.copysign(self.shape.draw_tail(self.edge, tail.size, rng), x[tail])
        x[redrawn] = self.shape.draw_directly(redrawn.size, rng)
        out[places] = x * scale


@lru_cache(maxsize=64)
def ziggurat(shape: DensityShape) -> Ziggurat:
    """Return the layers that cover a density, cached, with the edge found by bisection."""
    low, high = 1e-2, 1e4  # These numbers bracket the edge for which the layers just reach the top.
    while True:
        edge = math.sqrt(low * high)
        ends, heights, step, overshoot = _stack_layers(shape, edge)
        if overshoot == 0:
            break
        low, high = (edge, high) if overshoot > 0 else (low, edge)
    wide = np.array(ends)
    # The topmost layer may end above the top of the density; heights drawn there are rejected.
    steps = np.append(np.diff(heights), step)
    sure = np.floor(wide[1:] / wide[:-1] * 2.0**PLACE_BITS).astype(np.int64)
    return Ziggurat(
        shape=shape,
        edge=edge,
        widths=wide[:-1] * 2.0**-PLACE_BITS,
        sure_places=sure,
        heights=np.array(heights),
        steps=steps,
    )


def _stack_layers(shape: DensityShape, edge: float) -> tuple[list[float], list[float], float, int]:
    """Stack layers of equal area whose tail begins at `edge`; return them and how well they fit.

    The four parts are the ends of the layers, their lower heights, the thickness of the topmost
    layer, and a number: 1 if the layers exceed the top of the density, -1 if they do not reach it,
    and 0 if they cover it and waste at most a tenth of the topmost layer.
    """
    height = float(shape.density(np.array(edge)))
    area = edge * height + shape.tail_area(edge)
    # The lowest layer has the area of a rectangle; its places beyond the edge stand for the tail.
    ends, heights = [area / height, edge], [0.0, height]
    for _ in range(LAYERS - 2):
        height += area / ends[-1]
        if height >= 1:
            return ends, heights, 0.0, 1
        heights.append(height)
        ends.append(shape.inverse(height))
    step = area / ends[-1]
    top = height + step
    overshoot = -1 if top < 1 else int(top > 1 + 0.1 * step)
    ends.append(0.0)
    return ends, heights, step, overshoot

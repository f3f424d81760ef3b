"""No private answer and no channel beats Fano by distance or two-sided information.

*Channels* are exact: their divergences of all orders, their information in both directions and the
losses of their best answers are sums over a few words. *Answers* see the number of spikes and know
which records are spikes, as in the proof: the Gaussian mechanism with clipped, projected or
sign-choosing answers, the exponential mechanism over all sign patterns, and an answer without data.
Seeds are fixed. An answer beats a bound if its mean lies six standard errors below it (1e-9 each).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsco_core.base.loss_classes import Form
from dpsco_core.bounds.instances import distance, two_sided
from dpsco_core.bounds.instances.distance import chance, fano_distance, log_ball, log_tail
from dpsco_core.bounds.instances.two_sided import curve, sum_of_signs

Floats = NDArray[np.float64]
FORMS: tuple[Form, ...] = ("l2", "squared", "linear")
SIX = 6.0


def loss_of(form: Form, d: int, norm: Floats, sums: Floats) -> Floats:
    """Return the loss of answers of a given norm whose inner product with the signs is the norm
    times `sums`.
    """
    if form == "linear":
        return math.sqrt(d) - sums
    square = np.maximum(d + norm * norm - 2 * norm * sums, 0.0)
    return square if form == "squared" else np.sqrt(square)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("d", [1, 3, 8, 20])
def test_two_sided_information_is_attained_by_tilted_channels(d: int, form: Form) -> None:
    """The output is a sign pattern, likelier near the secret, and in some cases no pattern.

    The test fails for half the information, and for a bound that is more than 1 % too low.
    """
    sums, weights = sum_of_signs(d)
    start = float(d) if form == "squared" else math.sqrt(d)
    norms = [1.0] if form == "linear" else math.sqrt(d) * np.linspace(0.3, 1, 15)
    reached: list[tuple[float, float]] = []
    for norm in norms:
        losses = loss_of(form, d, np.float64(norm), sums)
        for slope in np.geomspace(0.2, 60, 40) / start * max(1.0, d / 4):
            c = two_sided._solve_for_c(slope * losses[None], weights, 40)
            ratio, _ = two_sided._conjugate_derivatives(c[:, None] - slope * losses)
            ratio = ratio[0] / (ratio[0] @ weights)
            reached.append(
                (float(((ratio - 1) * np.log(ratio)) @ weights), float((ratio * losses) @ weights))
            )
    information, risks = np.array(reached).T
    smallest = curve(d, form)
    assert np.all(risks >= smallest.value_at(information) * (1 - 1e-9))
    for kappa in np.linspace(0.05, 0.9, 6) * d:
        # Mixing two channels in equal parts gives the mean of their information.
        too_informative = np.flatnonzero(information > kappa)
        admissible = np.flatnonzero(information <= kappa)
        best = start - (start - risks[too_informative]) * kappa / information[too_informative]
        for i in admissible:
            share = (kappa - information[i]) / (information[too_informative] - information[i])
            best = np.minimum(best, risks[i] + share * (risks[too_informative] - risks[i]))
        bound = float(smallest.value_at(np.array([kappa]))[0])
        assert bound <= float(best.min()) * (1 + 1e-9)
        assert bound >= float(best.min()) - 0.01 * start


def draw_channels(words: int, count: int) -> Iterator[tuple[Floats, float]]:
    """Draw `count` random channels (words by outputs), each with the largest D_alpha/alpha over its
    pairs of words.
    """
    rng = np.random.default_rng(words)
    orders = np.concatenate([1 + np.geomspace(1e-6, 1, 30), np.geomspace(2.1, 2000, 60)])
    for _ in range(count):
        law = rng.dirichlet(np.full(words + 1, rng.uniform(0.2, 3)), size=words)
        law = (1 - 1e-3) * law + 1e-3 / (words + 1)
        mix = rng.uniform(0, 1)
        law = mix * law + (1 - mix) * law.mean(0)
        kappa = 0.0
        for u, v in itertools.permutations(range(words), 2):
            logs = np.log(law[u] / law[v])
            tops = np.max((orders[:, None] - 1) * logs, axis=1)
            means = np.sum(law[u] * np.exp((orders[:, None] - 1) * logs - tops[:, None]), axis=1)
            kappa = max(kappa, float(np.max((np.log(means) + tops) / (orders - 1) / orders)))
        yield law, kappa


@pytest.mark.parametrize("words", [2, 4, 8])
def test_no_channel_names_a_word_more_often_than_the_bound_on_a_chance(words: int) -> None:
    closest = 0.0
    for law, kappa in draw_channels(words, 60):
        hit_rate = float(law.max(axis=0).mean() * law.shape[1] / words)
        largest = float(
            chance(np.array(kappa), np.array(-math.log(words)), log_words=math.log(words))
        )
        assert hit_rate <= largest * (1 + 1e-6)
        closest = max(closest, hit_rate / largest)
    assert closest > 0.8


@pytest.mark.parametrize("words", [2, 4])
def test_no_channel_beats_two_sided_information_in_naming_signs(words: int) -> None:
    """The words are all sign patterns of one or two coordinates, and the answers are best for the
    linear loss.
    """
    d = words.bit_length() - 1
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
    for law, kappa in draw_channels(words, 60):
        posterior = law / law.sum(axis=0)  # This is the posterior of each word, given an output.
        means = np.linalg.norm(posterior.T @ signs, axis=1)
        risk = math.sqrt(d) - float(law.sum(axis=0) @ means) / words
        smallest = curve(d, "linear").value_at(np.array([kappa * (1 - 1 / words)]))
        assert risk >= float(smallest[0]) * (1 - 1e-6)
        assert risk >= float(distance.remaining(np.array([kappa]), d, "linear")[0])


def test_no_direction_has_more_signs_beyond_an_edge_than_the_bound_on_a_tail() -> None:
    rng = np.random.default_rng(1)
    for d in (1, 2, 3, 5, 8):
        signs = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
        edges = np.linspace(1e-3, math.sqrt(d), 30)
        largest = np.exp(log_tail(d, edges))
        for _ in range(200):
            u = rng.standard_normal(d) * rng.exponential(size=d) ** rng.integers(0, 4)
            sums = signs @ (u / np.linalg.norm(u))
            share = (sums[:, None] >= edges - 1e-12).mean(axis=0)
            assert np.all(share <= largest * (1 + 1e-9))
        for t in np.linspace(0.05, math.sqrt(d) * 0.999, 10):
            balls = np.exp(log_ball(d, np.array([t])))[0]
            centres = signs * rng.uniform(0, 1, size=(len(signs), d))
            distances = np.linalg.norm(signs[:, None] - centres[None], axis=2)
            assert (distances <= t).mean(axis=0).max() <= balls * (1 + 1e-9)


def noisy_products(
    d: int, rho: float, counts: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return the product of a Gaussian release with the signs, over sqrt(d), and the norm of the
    release.

    The release is of the sum of B spikes: another spike moves it by at most twice its length.
    """
    scale = 2 * math.sqrt(d) / math.sqrt(2 * rho)
    projections = counts * math.sqrt(d) + scale * rng.standard_normal(len(counts))
    residues = scale**2 * rng.chisquare(d - 1, len(counts)) if d > 1 else np.zeros(len(counts))
    return projections, np.sqrt(projections**2 + residues)


def gaussian_answers(
    form: Form, d: int, rho: float, counts: Floats, rng: np.random.Generator
) -> Iterator[Floats]:
    """Yield the losses of answers made from a Gaussian release of the sum of spikes."""
    projections, size = noisy_products(d, rho, counts, rng)
    sums = projections / size
    root = math.sqrt(d)
    if form == "linear":
        yield loss_of(form, d, np.float64(root), sums)
        return
    informed = counts > 0
    for share in (0.15, 0.3, 0.45, 0.6, 0.75, 0.9):  # The release is projected on a sphere.
        norm = np.where(informed, share * root, 0.0)
        yield loss_of(form, d, norm, sums)
    for factor in (0.2, 0.5, 1.0):  # The release is clipped to the ball.
        norm = np.minimum(factor * size / np.maximum(counts, 1), root)
        yield loss_of(form, d, np.where(informed, norm, 0.0), sums)
    # The answer is the signs of the release, wrong where the noise outweighs the spikes.
    scale = 2 * math.sqrt(d) / math.sqrt(2 * rho)
    wrong = (counts[:, None] + scale * rng.standard_normal((len(counts), d)) < 0).sum(axis=1)
    for share in (0.3, 0.6, 1.0):
        norm = np.where(informed, share * root, 0.0)
        yield loss_of(form, d, norm, (d - 2 * wrong) / root)


def drawn_answers(
    form: Form, d: int, rho: float, counts: Floats, rng: np.random.Generator
) -> Iterator[Floats]:
    r"""Yield the losses of sign patterns drawn by the exponential mechanism.

    The score is the number of right signs of all spikes, which one record moves by at most d: a
    range of :math:`\varepsilon_0=\sqrt{8\rho}` is rho-zCDP.
    """
    root, wrong = math.sqrt(d), np.arange(d + 1)
    log_count = np.array([math.log(math.comb(d, k)) for k in wrong])
    logs = log_count - math.sqrt(8 * rho) * counts[:, None] * wrong / (2 * d)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    picked = (weights.cumsum(axis=1) < rng.uniform(size=(len(counts), 1))).sum(axis=1)
    sums = (d - 2 * np.minimum(picked, d)) / root
    for share in (0.3, 0.6, 1.0) if form != "linear" else (1.0,):
        yield loss_of(form, d, np.where(counts > 0, share * root, 0.0), sums)


def attack_at_random(seed: int, draws: int) -> dict[Form, float]:
    """Return for every form of loss the least ratio of attained loss to the larger of two bounds,
    at a random setting.
    """
    rng = np.random.default_rng(seed)
    n = round(10 ** rng.uniform(0.3, 3.5))
    d, order = int(rng.integers(1, 13)), float(rng.choice([2.0, 2.5, 3.0, 4.0, 8.0, 30.0]))
    rho = float(10 ** rng.uniform(-4, 1.3))
    ratios: dict[Form, float] = {}
    for form in FORMS:
        best = two_sided.best(n, d, order, rho, 1.0, form)
        q = min(1.0, best * float(rng.choice([0.5, 1.0, 1.0, 2.0])))
        counts = rng.binomial(n, q, size=draws).astype(float)
        start = float(d) if form == "squared" else math.sqrt(d)
        smallest, spread = start, 0.0
        answers = (
            *gaussian_answers(form, d, rho, counts, rng),
            *drawn_answers(form, d, rho, counts, rng),
        )
        for losses in answers:
            mean, error = float(losses.mean()), float(losses.std()) / math.sqrt(draws)
            if mean + SIX * error < smallest + SIX * spread:
                smallest, spread = mean, error
        theta = q ** ((2 if form == "squared" else 1) * (1 - 1 / order))
        bound = max(
            two_sided.two_sided(q, n, d, order, rho, form),
            fano_distance(q, n, d, order, rho, form),
        )
        assert theta * (smallest + SIX * spread) >= bound * (1 - 1e-9), (seed, form)
        if bound > 0:
            ratios[form] = theta * smallest / bound
    return ratios


def test_no_private_answer_beats_the_bounds_at_300_random_settings() -> None:
    ratios = [attack_at_random(seed, 1500) for seed in range(300)]
    for form in FORMS:
        form_ratios = [r[form] for r in ratios if form in r]
        assert (
            len(form_ratios) > 250 and min(form_ratios) < 1.15
            # Otherwise the attack could not reveal a bound that is too large by this factor.
        )


@pytest.mark.slow
def test_no_private_answer_beats_the_bounds_at_3000_random_settings() -> None:
    for seed in range(1000, 4000):
        attack_at_random(seed, 3000)

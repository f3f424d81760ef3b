"""The numbers of the page Lower bounds: reference values, order, and measured errors."""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_core.base.cards import Privacy
from dpsco_core.base.errors import InvalidInput
from dpsco_core.bounds.instances.fano import LOG_2
from dpsco_core.bounds.mean.rows import LOWER_MEAN_BOUNDS
from dpsco_core.catalogue import HARD_INSTANCES, bound
from dpsco_core.cli.fano import OF_PROOFS, add_fano, run_fano
from dpsco_core.explain.fano.builder import Builder, PackingProof, SignProof
from dpsco_core.explain.fano.forms import Rung, ladder, literal_probability
from dpsco_core.explain.fano.instance import curves, floors, largest_floor, mean_instance
from dpsco_core.problems import Setting
from dpsco_core.results.report import ON_OWN_DATA, evaluate
from dpsco_core.runs.study import study

EXAMPLE = Builder(
    bits=25,
    separation=1.0,
    total_variation=1e-3,
    kl=math.inf,
    n=1000,
    rho=0.5,
    epsilon=1.0,
)
SHIFT = 0.05  # The shift of two normal laws, in standard deviations.
NORMAL = replace(
    EXAMPLE, kl=SHIFT**2 / 2, total_variation=float(2 * norm.cdf(SHIFT / 2) - 1), rho=1e-4
)
# Each value of the worked example of theory/kamath-liu-zhang.md, 4.7, stands with its q.
GOLDEN = {
    "closed-cdp": (0.0032150, 3.524e-4),  # This is form E2 of the worked example.
    "fano-cdp": (0.0035375, 2.711e-4),  # This is form E3 of the worked example.
    "closed-hypercube-cdp": (0.031216, 6.061e-4),  # This is form E5 of the worked example.
    "hypercube-cdp": (0.031848, 6.410e-4),  # This is form E6 of the worked example.
    # This value stands in theory/bounds-everywhere.md, 4.
    "fano-distance-cdp": (0.050958, 8.64e-4),
    "fano-pure": (0.014723, 1.256e-3),  # This is form P1 of the worked example.
    "hypercube-pure": (0.10062, 4.347e-3),  # This is form P3 of the worked example.
}
NOTE = mean_instance(rho=0.5)


def rungs_by_key(**changes: Any) -> dict[str, Rung]:
    """Return the rungs of the ladder of a mean instance, by key."""
    return {r.key: r for r in ladder(mean_instance(**changes))}


def test_the_builder_gives_the_papers_example() -> None:
    assert EXAMPLE.bound == pytest.approx(0.4511605, abs=5e-8)
    assert EXAMPLE.bites == "privacy" and EXAMPLE.sampling_bound == 0
    # At r = 1 the squared bound has r^2/4 in place of r/2.
    assert EXAMPLE.squared_bound == pytest.approx(EXAMPLE.bound / 2)


def test_privacy_limits_below_one_n_and_sampling_above() -> None:
    instance = [replace(NORMAL, rho=0.01).at(2**k) for k in range(24)]
    bites = [b.bites for b in instance]
    assert {"privacy", "statistics"} <= set(bites)
    assert bites == sorted(bites, key=("privacy", "statistics", "nothing").index)
    for b in instance:
        assert b.bound == max(b.privacy_bound, b.sampling_bound, 0)
    assert replace(NORMAL, rho=1.0, n=1).bites == "statistics"


def test_no_limit_applies_where_both_reveal_everything() -> None:
    large = replace(NORMAL, n=10**8, rho=1.0)
    assert large.bites == "nothing" and large.bound == 0


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bits", 0.5),
        ("bits", math.inf),
        ("separation", 0.0),
        ("total_variation", 1.1),
        ("kl", -1.0),
        ("kl", math.nan),
        ("n", 0),
        ("rho", 0.0),
        ("epsilon", math.inf),
    ],
)
def test_values_out_of_range_are_refused(field: str, value: float) -> None:
    with pytest.raises(InvalidInput, match=f"^{field} must be "):
        replace(EXAMPLE, **{field: value})


def test_the_forms_have_the_notes_reference_values() -> None:
    forms = rungs_by_key(rho=0.5)
    pure = rungs_by_key(rho=None, epsilon=1.0, delta=0.0)
    forms |= {key: form for key, form in pure.items() if key.endswith("-pure")}
    for key, (value, q) in GOLDEN.items():
        assert forms[key].value == pytest.approx(value, rel=6e-5), key
        assert forms[key].q == pytest.approx(q, rel=1e-3), key
    assert forms["literal-cdp"].value == 0 and forms["literal-pure"].value < 1e-50
    instance = floors(NOTE)
    assert instance.sampling == pytest.approx(
        0.126605, rel=1e-5
    )  # The value is that of theory/approx-lower-bounds.md, 6.
    # The expected number is reference value N1.
    assert instance.gaussian == pytest.approx(0.10732, abs=5e-6)
    # The bound by tracing is that of theory/approx-lower-bounds.md, 7.
    assert instance.concentrated == pytest.approx(0.0538, abs=5e-5)
    assert instance.concentrated > forms["hypercube-cdp"].value
    # Under this zCDP budget a pure algorithm may have an epsilon above 1.
    assert (
        instance.pure == rungs_by_key(rho=0.5)["packing-pure"].value < forms["packing-pure"].value
    )


def test_the_printed_spike_probability_makes_fanos_bound_void() -> None:
    q = literal_probability(NOTE, "zcdp")
    assert q == pytest.approx(2e-3)
    proof = PackingProof(n=10_000, d=200, order=4.0, q=q, rho=0.5, epsilon=1.0)
    # The expected number is reference value E1.
    assert proof.factor == pytest.approx(-11.157, abs=5e-4)
    assert proof.bound == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"rho": 0.5},
        {"rho": 0.01, "d": 50, "p": 2.0},
        {"rho": 1e-4, "n": 500, "mean_bound": 0.5},
        {"rho": None, "epsilon": 1.0, "delta": 1e-6, "d": 20},
        {"rho": None, "epsilon": 0.5, "delta": 0.0, "d": 8},
        {"rho": 0.1, "d": 1, "n": 100},
    ],
)
def test_sharper_forms_prove_no_less(changes: dict[str, Any]) -> None:
    """The test fails for a wrong q, a wrong cap, or a bound under another bound's name."""
    r = {key: rung.value for key, rung in rungs_by_key(**changes).items()}
    factor = 1 - 1e-9
    assert factor * r["literal-cdp"] <= r["fano-cdp"] <= r["given-cdp"] * (1 + 1e-9)
    assert factor * r["closed-cdp"] <= r["fano-cdp"]
    assert factor * r["fano-cdp"] <= max(r["gilbert-cdp"], r["fano-cdp"])
    assert factor * r["closed-hypercube-cdp"] <= r["hypercube-cdp"]
    steps = ("one-distance-cdp", "distances-fano-cdp", "distances-both-ways-cdp")
    climb = [r[key] for key in (*steps, "fano-distance-cdp")]
    assert climb[1] >= factor * climb[0] and climb == sorted(climb)
    assert factor * r["literal-pure"] <= r["markov-pure"] * (1 + 1e-9)
    instance = mean_instance(**changes)
    for rung in ladder(instance):
        hard = "hypercube" if rung.source == "hypercube" else "spike"
        assert 0 < rung.q <= instance.largest(hard) * (1 + 1e-12)


@pytest.mark.parametrize(
    "budget",
    [{"rho": 0.02}, {"epsilon": 1.0, "delta": 0.0}, {"epsilon": 1.0, "delta": 1e-6, "p": 2.0}],
)
def test_the_curves_peak_at_their_stated_positions(budget: dict[str, Any]) -> None:
    instance = mean_instance(**({"rho": None} | budget))
    notions = {"approx"} if instance.scenario.delta else set()
    assert {curve.binds for curve in curves(instance)} == {"zcdp", "pure"} | notions
    for curve in curves(instance):
        assert curve.values.max() <= curve.best * (1 + 1e-6)
        assert curve.values.max() >= 0.97 * curve.best
        assert np.all(np.diff(curve.q) > 0)
        row = bound(f"lower.mean.{curve.slug}")
        free = replace(instance.setting, spike_probability=None)
        assert row.value(free) == pytest.approx(curve.best, rel=1e-9)


def test_a_small_mean_caps_the_spike_probability() -> None:
    instance = mean_instance(rho=1e-4, mean_bound=0.5)
    cube = next(c for c in curves(instance) if c.slug == "hypercube-cdp")
    assert cube.best_q == pytest.approx(instance.largest("hypercube"))
    assert instance.proof(cube.best_q).mean_norm == pytest.approx(0.5)
    assert cube.q[-1] <= instance.largest("hypercube") * (1 + 1e-9)


@pytest.mark.parametrize("hard", ["hypercube", "spike"])
@pytest.mark.parametrize("budget", [{"rho": 0.5}, {"rho": None, "epsilon": 1.0, "delta": 0.0}])
def test_the_steps_of_a_proof_multiply_to_its_bound(hard: str, budget: dict[str, Any]) -> None:
    instance = mean_instance(hard=hard, **budget)
    proof = instance.proof(instance.own_probability)
    whole = proof.separation / 2 if isinstance(proof, PackingProof) else proof.wrong_sign_cost
    assert whole * proof.error == pytest.approx(proof.bound)
    assert whole * proof.pure_error == pytest.approx(proof.pure_bound)
    assert proof.squared_changes == pytest.approx(
        proof.expected_changes**2 + proof.expected_changes * (1 - proof.q)
    )
    assert proof.information == pytest.approx(instance.rho * proof.squared_changes)
    assert max(proof.bound, proof.pure_bound) <= proof.ceiling
    law = instance.scenario.instance.problem
    assert instance.setting.spike_probability == proof.q
    law_drawn = law.draw(np.random.default_rng(0))
    assert np.linalg.norm(law_drawn.distribution.mean) == pytest.approx(proof.mean_norm)


def test_the_code_has_the_number_of_words_that_its_proof_states() -> None:
    proof = PackingProof(n=10_000, d=200, order=4.0, q=2.711e-4, rho=0.5, epsilon=1.0)
    assert proof.log_size == pytest.approx(25 * LOG_2)
    assert proof.separation == pytest.approx(proof.theta * 5)
    assert proof.factor == pytest.approx(proof.error)
    signs = SignProof(n=10_000, d=200, order=4.0, q=6.41e-4, rho=0.5, epsilon=1.0)
    assert signs.log_size == pytest.approx(200 * LOG_2)
    assert 0 < signs.error < 0.5 and 0 < signs.pure_error < 0.5


METHODS = ("mean.sample", "mean.clipped", "mean.cwme-cdp", "mean.cwme-pure")


def largest_on(hard: str, setting: Setting, binds: Sequence[Privacy]) -> float:
    """Return the largest explicit bound that applies on a hard instance; 0 if none applies."""
    cards = [b.card for b in LOWER_MEAN_BOUNDS if b.card.privacy in binds]
    proven = [c for c in cards if (c.constant, c.quantity) == ("explicit", "l2 error")]
    return max((bound(c.slug).value(setting) for c in proven if c.instance == hard), default=0.0)


@pytest.mark.parametrize("hard", ["hypercube", "spike"])
def test_every_private_mean_error_is_above_its_lower_bound(hard: str) -> None:
    """The point is that of theory/kamath-liu-zhang.md, 4.7, where 20 trials stay 15 standard errors
    above.
    """
    instance = mean_instance(hard=hard, rho=0.5, methods=METHODS, trials=20)
    outcomes = list(study(instance.scenario))
    errors = {m: np.array([o.error for o in outcomes if o.method == m]) for m in METHODS}
    binds = {o.method: o.bound_by for o in outcomes}
    floors_here = {m: largest_on(hard, instance.setting, binds[m]) for m in METHODS}
    floor = largest_on(hard, instance.setting, ("zcdp",))
    on_any = max(largest_on(law, instance.setting, ("zcdp",)) for law in HARD_INSTANCES)
    assert largest_floor(instance.setting, ("zcdp",)) == on_any >= floor
    own_slug = "hypercube-cdp" if hard == "hypercube" else "fano-cdp"
    assert floor >= evaluate(instance.scenario, bound(f"lower.mean.{own_slug}")).value > 0
    for method in METHODS[1:3]:
        assert floors_here[method] == floor
        standard_error = errors[method].std(ddof=1) / math.sqrt(20)
        assert errors[method].mean() - 15 * standard_error > floor
    assert floors_here["mean.sample"] == 0
    # The Laplace noise of this method is pure DP at an epsilon derived from rho. A zCDP budget does
    # not ask this of other algorithms, so only the zCDP bounds bind.
    assert binds["mean.cwme-pure"] == ("zcdp",)
    assert errors["mean.cwme-pure"].mean() >= floors_here["mean.cwme-pure"] == floor


def test_an_unsupported_instance_is_refused() -> None:
    with pytest.raises(InvalidInput, match="^d must be at least 2"):
        mean_instance(hard="spike", d=1)
    with pytest.raises(InvalidInput, match="^distribution must be "):
        mean_instance(hard="student-t")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return what `dpsco fano` prints."""
    parser = argparse.ArgumentParser()
    add_fano(parser.add_subparsers(dest="command"))
    run_fano(parser.parse_args(["fano", *words]))
    return capsys.readouterr().out


def test_the_command_prints_the_numbers_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(printed(capsys, "--rho", "0.5", "--json"))
    forms = {form["key"]: form["value"] for form in document["forms"]}
    assert forms == {key: rung.value for key, rung in rungs_by_key(rho=0.5).items()}
    assert document["proof"]["bound"] == rungs_by_key(rho=0.5)["fano-distance-cdp"].value
    assert document["problem"]["spike_probability"] == NOTE.own_probability
    text = printed(capsys, "--rho", "0.5")
    assert re.search(r"\b0\.0318480?\b", text)
    own_slug = json.loads(printed(capsys, "--bits", "25", "--n", "1000", "--rho", "0.5", "--json"))
    assert own_slug["packing"]["bound"] == EXAMPLE.bound and own_slug["packing"]["kl"] == "inf"
    approx = json.loads(printed(capsys, "--epsilon", "1", "--json"))
    assert approx["problem"]["budget"] == "(1, 1e-06)-DP"
    # The command takes epsilon = 1 by default.
    pure = json.loads(printed(capsys, "--delta", "0", "--json"))
    assert pure["problem"]["budget"] == "1-DP"


@pytest.mark.parametrize("budget", [("--rho", "0.5"), ("--epsilon", "1", "--d", "20")])
def test_the_command_begins_with_the_sharpest_bound_of_each_notion_and_explains_its_numbers(
    budget: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(printed(capsys, *budget, "--json"))
    best = document["best"]
    text = printed(capsys, *budget)
    head = text[: text.index("Problem")]
    for notion in {row["binds"] for row in best}:
        row = max((r for r in best if r["binds"] == notion), key=lambda r: r["value"])
        (line,) = [part for part in head.splitlines() if part.endswith(f" {row['key']}")]
        assert f"{row['value']:.4g}" in line
    assert ("(1, 1e-06)-DP algorithm" in head) == ("--epsilon" in budget)
    flat = " ".join(text.split())
    for name, part in document.items():
        if name.endswith("proof"):
            assert all(f"{number} " in flat and OF_PROOFS[number] in flat for number in part)
    assert [line for line in text.splitlines() if len(line) > 100] == []


@pytest.mark.parametrize("hard", ["hypercube", "spike"])
@pytest.mark.parametrize(
    "budget",
    [("--rho", "0.5"), ("--epsilon", "1", "--delta", "0"), ("--epsilon", "1", "--d", "20")],
)
def test_a_printed_proof_ends_with_the_value_of_the_form_it_names(
    hard: str, budget: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """In an earlier version the proof ended with 0.0302 at rho = 0.5, which was none of
    the forms.
    """
    document = json.loads(printed(capsys, *budget, "--distribution", hard, "--json"))
    forms = {form["key"]: form for form in document["forms"]}
    endings = {name: part for name, part in document.items() if name.endswith("proof")}
    assert endings.keys() >= {"proof", "pure_proof"}
    assert ("expectile_proof" in endings) == (hard == "hypercube" and "--rho" not in budget)
    for ending in endings.values():
        form = forms[ending["form"]]
        assert (ending["bound"], ending["q"]) == (form["value"], form["q"])
        assert ending["bound"] > 0
    if budget[0] == "--rho":
        for name, ending in endings.items():
            # The proof is at the epsilon that rho allows, which is above 1.
            if name == "pure_proof":
                continue
            value, q = GOLDEN[ending["form"]]
            assert ending["bound"] == pytest.approx(value, rel=6e-5)
            assert ending["q"] == pytest.approx(q, rel=1e-3)


@pytest.mark.parametrize(
    "budget",
    [
        {"rho": 0.5},
        {"rho": None, "epsilon": 1.0, "delta": 0.0, "d": 20},
        {"rho": None, "epsilon": 1.0, "delta": 1e-6, "d": 20, "mean_bound": 0.5},
    ],
)
def test_a_form_has_the_value_of_the_bound_of_its_name(budget: dict[str, Any]) -> None:
    instance = mean_instance(**budget)
    other_data = replace(instance.scenario, distribution="student-t", offset=0.1)
    rungs = {rung.slug: rung for rung in ladder(instance) if rung.slug}
    assert len(rungs) >= 8
    for slug, rung in rungs.items():
        evaluation = evaluate(other_data, bound(slug))
        assert evaluation.value == pytest.approx(rung.value, rel=1e-9), slug
        assert evaluation.note == ""
    # The forms that the page draws are those with which its proofs end.
    by_name = {bound(slug).card.name: rung for slug, rung in rungs.items()}
    for curve in curves(instance):
        if curve.hard != "tracing":
            assert curve.best == pytest.approx(by_name[curve.name].value, rel=1e-9)
    # On data of the instance a bound is evaluated, and reported, at their spike probability.
    own_slug = evaluate(instance.scenario, bound("lower.mean.hypercube-cdp"))
    assert own_slug.note == ON_OWN_DATA
    assert own_slug.value == instance.proof(instance.own_probability).bound
    assert own_slug.value <= rungs_by_key(**budget)["hypercube-cdp"].value
    assert evaluate(instance.scenario, bound("lower.mean.fano-cdp")).note == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--tv", "0.1"), "bits must be given with tv"),
        (("--bits", "9", "--rho", "1", "--epsilon", "1"), "epsilon must be left out beside rho"),
        (("--bits", "9", "--rho", "1", "--delta", "0"), "delta must be left out beside rho"),
        (("--bits", "x"), "bits must be a number"),
        (("--n", "1.5"), "n must be an integer"),
        (("--bits", "25", "--tv", "2"), "total_variation must be between 0 and 1"),
        (("--rho", "1", "--epsilon", "1"), "epsilon and delta must be left out beside rho"),
    ],
)
def test_the_command_refuses_invalid_input_in_one_sentence(
    words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InvalidInput, match=f"^{message}"):
        printed(capsys, *words)


def test_the_proof_by_expectiles_ends_with_the_bound_on_every_algorithm() -> None:
    instance = mean_instance(
        hard="hypercube", d=20, p=2.0, rho=None, epsilon=1.0, delta=1e-6, n=10_000
    )
    row = bound("lower.mean.approx-packing")
    curve = next(c for c in curves(instance) if c.slug == "approx-packing")
    proof = instance.expectiles(curve.best_q)
    assert proof is not None
    free = replace(instance.setting, spike_probability=None)
    assert proof.bound == curve.best == pytest.approx(row.value(free), rel=1e-12)
    assert proof.bound == pytest.approx(0.0939, abs=5e-5)
    # The proof's steps state seven spikes, the likelihood ratio e^7, and the least mean distance in
    # the table.
    assert (proof.typical, proof.log_likelihood_ratio) == (7, 7.0)
    assert proof.nearest == pytest.approx(3.6404, abs=1e-4)
    assert proof.nearest < proof.farthest == proof.ceiling / proof.theta
    assert proof.failure == pytest.approx(1e-6 * math.expm1(7) / math.expm1(1), rel=1e-9)
    pure = mean_instance(hard="hypercube", d=20, p=2.0, rho=None, epsilon=1.0, delta=0.0, n=10_000)
    curve = next(c for c in curves(pure) if c.slug == "approx-packing")
    assert (curve.binds, floors(pure).pure) == ("pure", curve.best)
    assert curve.best == pytest.approx(0.0957, abs=5.1e-5)
    concentrated = mean_instance(hard="hypercube", d=20, p=2.0, rho=0.1, n=10_000)
    assert concentrated.expectiles(0.001) is None


def packing(capsys: pytest.CaptureFixture[str], *budget: str) -> dict[str, Any]:
    """Return the numbers of a packing that `dpsco fano --json` prints."""
    words = ("--bits", "40", "--separation", "0.5", "--tv", "0.01", "--n", "500", *budget)
    numbers: dict[str, Any] = json.loads(printed(capsys, *words, "--json"))["packing"]
    return numbers


def test_a_packing_takes_exactly_the_given_budget(capsys: pytest.CaptureFixture[str]) -> None:
    pure = [packing(capsys, "--epsilon", e, "--delta", "0") for e in ("0.1", "1", "10")]
    implied = [e * math.tanh(e / 2) for e in (0.1, 1.0, 10.0)]
    assert [at["rho"] for at in pure] == pytest.approx(implied)
    assert pure[0]["bound"] > pure[1]["bound"] > pure[2]["bound"]
    assert [at["epsilon"] for at in pure] == [0.1, 1, 10]
    approximate = [packing(capsys, "--epsilon", "1", "--delta", d) for d in ("1e-9", "1e-3")]
    assert approximate[0]["rho"] < approximate[1]["rho"]
    assert approximate[0]["bound"] > approximate[1]["bound"]
    concentrated = packing(capsys, "--rho", "0.5")
    assert 0 < concentrated["bound"] < pure[1]["bound"], "a pure algorithm has a smaller rho"
    for instance in (concentrated, *approximate):
        assert "epsilon" not in instance and "pure_bound" not in instance

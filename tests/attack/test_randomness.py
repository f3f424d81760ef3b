"""Streams never meet, fresh seeds come from the operating system, and no release has a hidden seed.

A stream is a PCG64DXSM generator whose 256 bits (state and increment) follow from the 128-bit pool
of a `numpy.random.SeedSequence` over (seed, 128-bit hash of the label, trial). Two of k streams
share a pool with probability k^2/2^129: 2^-77 for the 10^8 cells that the library allows. Two with
different increments are different sequences; the blocks of one sample share one sequence, at
distances that are computed below.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpsco_app.parts.fields import ALL_CONTROLS
from dpsco_core import Scenario, catalogue, fresh_seed, run_cell
from dpsco_core.base.seeds import COST
from dpsco_core.cli.main import main
from dpsco_core.data import blocks
from dpsco_core.fields import TABLE
from dpsco_core.runs.store import Store
from dpsco_core.runs.study import cells, stream

ROOT = Path(__file__).resolve().parents[2]
PERIOD = 2**128


def names(count: int) -> Iterator[tuple[int, str, int]]:
    """Yield `count` triples of seed, label and trial that differ as little as possible."""
    labels = ("data n=1", "data n=10", "noise n=1", "noise n=10", "data n=1 ", "")
    for i in range(count):
        rest, label = divmod(i, len(labels))
        trial, seed = divmod(rest, 100)
        yield (seed if seed < 50 else 2**63 - 1 - seed), labels[label], trial


def first_words(count: int) -> tuple[int, int, int]:
    """Return how many states, how many increments and how many first outputs of `count` streams are
    distinct.
    """
    states, increments, outputs = set(), set(), set()
    for seed, label, trial in names(count):
        rng = stream(seed, label, trial)
        state = rng.bit_generator.state["state"]
        states.add(state["state"])
        increments.add(state["inc"])
        outputs.add(tuple(rng.integers(0, 2**64, size=2, dtype=np.uint64).tolist()))
    return len(states), len(increments), len(outputs)


def test_streams_differ_in_state_sequence_and_output() -> None:
    assert first_words(3000) == (3000, 3000, 3000)


@pytest.mark.slow
def test_a_hundred_thousand_streams_differ_in_state_sequence_and_output() -> None:
    assert first_words(100_000) == (100_000, 100_000, 100_000)


def closest(step: int, period: int, limit: int) -> int:
    """Return the least circular distance between two of the first `limit` multiples of `step`
    modulo `period`.

    The closest return of a rotation is at the denominators of its continued fraction.
    """
    best, rest, whole = period, step, period
    previous, current = 0, 1
    while current < limit and rest:
        best = min(best, (current * step) % period, -(current * step) % period)
        quotient, (whole, rest) = whole // rest, (rest, whole % rest)
        previous, current = current, quotient * current + previous
    return best


@pytest.mark.parametrize(("step", "period"), [(34, 89), (7, 101), (618, 1000), (5, 12)])
def test_the_closest_return_is_that_of_all_pairs(step: int, period: int) -> None:
    for limit in range(2, 12):
        points = [(i * step) % period for i in range(limit)]
        gaps = [(a - b) % period for a in points for b in points if a != b]
        assert closest(step, period, limit) <= min(gaps)
        assert closest(step, period, limit) in {min(g, period - g) for g in gaps} | {min(gaps)}


def test_the_blocks_of_a_sample_are_farther_apart_than_anybody_can_draw() -> None:
    assert closest(blocks.STEP, PERIOD, 2**40) > 2**86
    assert closest(2**64, PERIOD, 2**40) == 2**64  # A step other than the golden section fails.


def test_a_block_starts_its_number_of_jumps_after_the_first_block() -> None:
    streams, same_streams = blocks.BlockStreams((3, 4)), blocks.BlockStreams((3, 4))
    bits = np.random.PCG64DXSM(np.random.SeedSequence((3, 4)))
    for block in (0, 1, 2, 9):
        expected = bits.jumped(block).random_raw(3) if block else bits.jumped(0).random_raw(3)
        assert (streams.generator(block).bit_generator.random_raw(3) == expected).all()
    starts = {int(same_streams.generator(b).bit_generator.random_raw()) for b in range(3000)}
    assert len(starts) == 3000


def test_a_seed_is_fresh_every_time_and_can_be_kept() -> None:
    seeds = [fresh_seed() for _ in range(1000)]
    assert len(set(seeds)) == 1000  # By chance, two of the seeds are equal in one of 10^10 runs.
    assert all(0 <= seed < 2**53 for seed in seeds)
    # By chance, a bit lies outside 400 to 600 ones of 1000 in one of 10^8 runs.
    for bit in range(53):
        assert 400 < sum(seed >> bit & 1 for seed in seeds) < 600


def test_a_scenario_with_a_fresh_seed_records_it_and_can_be_repeated() -> None:
    scenario, other_scenario = (Scenario.from_dict({"seed": "fresh", "n": 200}) for _ in range(2))
    assert scenario.seed != other_scenario.seed
    read_back = Scenario.from_json(scenario.to_json())
    assert read_back == scenario == Scenario.from_query(scenario.to_query())
    single_trial = replace(scenario, methods=("mean.clipped",), trials=1)
    cell, same = (
        next(cells(single_trial)),
        next(cells(replace(read_back, methods=("mean.clipped",), trials=1))),
    )
    assert run_cell(cell).error == run_cell(same).error
    other_cell = next(cells(replace(single_trial, seed=other_scenario.seed)))
    assert run_cell(cell).error != run_cell(other_cell).error


def test_the_command_line_prints_the_fresh_seed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = ["run", "--method", "mean.clipped", "--n", "50", "--d", "2", "--trials", "1", "--json"]
    assert main([*run, "--seed", "fresh"]) == 0
    printed = capsys.readouterr()
    seed = json.loads(printed.out)["scenario"]["seed"]
    assert printed.err == f"dpsco: the seed is {seed}.\n"
    assert main([*run, "--seed", str(seed)]) == 0
    repeated = json.loads(capsys.readouterr().out)
    median_error = json.loads(printed.out)["results"][0]["median_error"]
    assert repeated["results"][0]["median_error"] == median_error
    file, results = tmp_path / "study.toml", tmp_path / "results.sqlite"
    file.write_text('seed = "fresh"\nmethods = ["mean.clipped"]\nn = 50\nd = 2\ntrials = 1\n')
    assert main(["study", str(file), "--out", str(results)]) == 0
    with Store(results, read_only=True) as store:
        (stored,) = store.scenarios()
    assert f"the seed is {stored.seed}." in capsys.readouterr().err


def test_the_help_of_the_seed_says_that_a_known_seed_ends_privacy() -> None:
    whole = " ".join((Scenario.__doc__ or "").split())
    control = ALL_CONTROLS["seed"]
    for words in (whole, TABLE["seed"].description, control.help):
        text = " ".join(str(words).split()).lower()
        for part in ("can subtract the noise", "never for publication of real data"):
            assert part in text and part in COST


def test_no_release_has_a_generator_of_its_own() -> None:
    """`rng` has to be given: nobody draws noise from a seed that the library has chosen."""
    for method in catalogue.METHODS:
        maker = catalogue.make_method(method.card.slug, "tight", "practical")
        parameter = inspect.signature(maker.release).parameters["rng"]
        assert parameter.default is inspect.Parameter.empty, method.card.slug


# Files where a generator is made from a constant on purpose; none of them makes a release.
SEEDED = {
    "dpsco_core/audit/stages.py": "the data of an audit",
    "dpsco_core/explain/picture.py": "the sample of a law whose histogram is drawn",
    "dpsco_core/plugins/guards.py": "two records of a law of one's own, to see that it draws",
    "dpsco_core/runs/cost.py": "the reference computation whose time is taken",
    "dpsco_core/problems/evaluation.py": "the evaluation sample of a population risk",
}


MAKER = re.compile("default_rng|SeedSequence|PCG64|Philox|RandomState")


def made_from_constants(source: str) -> list[int]:
    """Return the lines of a source that make a random generator from constants only."""
    makers = {"default_rng", "SeedSequence", "PCG64", "PCG64DXSM", "Philox", "RandomState", "seed"}
    lines = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if name not in makers:
            continue
        arguments = [*node.args, *(k.value for k in node.keywords)]
        fixed = [a for a in arguments if isinstance(a, ast.Constant) or ast.unparse(a).isupper()]
        if arguments and len(fixed) == len(arguments):
            lines.append(node.lineno)
    return lines


def test_no_generator_is_made_from_a_constant_where_noise_is_drawn() -> None:
    modules = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "dpsco_core").rglob("*.py")
        if MAKER.search(source := path.read_text(encoding="utf-8")) and made_from_constants(source)
    }
    assert modules <= SEEDED.keys()
    assert made_from_constants("rng = np.random.default_rng(0)") == [1]
    assert made_from_constants("np.random.default_rng(SEED)") == [1]
    assert made_from_constants("np.random.default_rng()\nnp.random.default_rng(seed)") == []

"""A release warns where a statement does not fit, using public or released numbers alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsco_core import release
from dpsco_core.cli.main import main
from dpsco_core.results.release import ArrayRelease

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((5000, 2))
TINY, LARGEST = "is tiny beside unit", "is the largest that unit and bound allow"
UNSEEN, LARGE_DELTA = "is not looked at", "is above 1/n"


def release_mean(records: Any, seed: int = 1, **statements: Any) -> ArrayRelease:
    """Release the mean of records, with some statements about them."""
    options: dict[str, Any] = {"bound": 2.0, "unit": 1.0, "rng": np.random.default_rng(seed)}
    return release(records, **(options | statements))


def has_note(answer: ArrayRelease, words: str) -> bool:
    """Return whether a note of a release contains some words."""
    return any(words in note for note in answer.notes)


@pytest.mark.parametrize(("delta", "is_large"), [(1e-3, True), (2e-4, False), (1e-6, False)])
def test_a_delta_above_one_over_n_gets_one_sentence(delta: float, is_large: bool) -> None:
    pair = ROWS, np.sign(ROWS[:, 0])
    for records in (ROWS, pair):
        answer = release_mean(records, delta=delta)
        assert has_note(answer, LARGE_DELTA) == is_large
    assert not has_note(release_mean(ROWS, epsilon=None, delta=None, rho=0.1), LARGE_DELTA)
    assert not has_note(release_mean(ROWS, method="mean.cwme-pure", delta=0.0), LARGE_DELTA)


@pytest.mark.parametrize("seed", range(5))
def test_a_radius_that_clips_nearly_all_records_or_none_gets_one_sentence(seed: int) -> None:
    """For records a million units apart the answer once was the centre, with noise of 6e-6."""
    fitting, far, close = (release_mean(s * ROWS, seed) for s in (1.0, 1e6, 1e-6))
    assert (
        not has_note(fitting, TINY)
        and not has_note(fitting, LARGEST)
        and not has_note(fitting, UNSEEN)
    )
    for answer in (far, close):
        assert has_note(answer, TINY) and answer.parameters["clip_radius"] < 0.2 * np.sqrt(2)
        assert not has_note(answer, LARGEST)
    assert has_note(release_mean(10 * ROWS, seed), LARGEST)


def test_lengths_in_the_sentences_have_the_unit_of_the_records() -> None:
    answer = release_mean(700.0 * ROWS, unit=7.0, bound=14.0)
    [note] = [note for note in answer.notes if LARGEST in note or TINY in note]
    [length] = re.findall(r"radius, ([\d.e+-]+),", note)
    assert float(length) == pytest.approx(7 * answer.parameters["clip_radius"], rel=1e-3)


def test_a_radius_that_was_fixed_in_advance_is_described_as_blind_to_the_data() -> None:
    for scale in (1.0, 1e6):
        answer = release_mean(scale * ROWS, method="mean.clipped")
        assert has_note(answer, UNSEEN) and not has_note(answer, TINY)
    # There are too few records for a private choice of the radius.
    few = release_mean(ROWS[:150, :1])
    assert has_note(few, UNSEEN) and not has_note(few, LARGEST)


def test_noise_larger_than_the_bound_gets_one_sentence() -> None:
    options: dict[str, Any] = {"method": "mean.clipped", "delta": 1e-6}
    assert has_note(release_mean(ROWS[:300], bound=0.05, epsilon=0.1, **options), "next to nothing")
    assert not has_note(release_mean(ROWS, **options), "next to nothing")


def test_other_records_of_a_fixed_plan_leave_the_sentences_as_they_are() -> None:
    """A sentence that read the records would leak them, so only the answer may change a
    sentence.
    """
    options: dict[str, Any] = {"method": "mean.clipped", "bound": 1e5}
    notes = {release_mean(s * ROWS, **options).notes for s in (1e-6, 1.0, 1e3)}
    assert len(notes) == 1


def test_the_command_prints_the_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["a", *map(repr, (1e6 * ROWS[:, 0]).tolist())]))
    words = ["release", str(path), "--column", "a", "--bound", "2", "--delta", "0.01"]
    assert main(words) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert LARGE_DELTA in text and (TINY in text or LARGEST in text)

"""The store takes no damage, other version or other program's table for a result."""

from __future__ import annotations

import random
import sqlite3
import sys
from pathlib import Path

import pytest

from dpsco_core import study
from dpsco_core.base.errors import InvalidInput
from dpsco_core.runs.store import Store, key_of, outcome_text
from dpsco_core.runs.study import cells
from tests.runs.test_store import SMALL


def test_a_cell_of_another_version_of_the_numbers_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["dpsco_core.runs.store"]
    with Store(tmp_path / "results.sqlite") as store:
        list(study(SMALL, store=store))
        monkeypatch.setattr(module, "NUMBERS_VERSION", module.NUMBERS_VERSION + 1)
        assert store.outcomes(SMALL) == [] and store.scenarios() == (SMALL,)
        list(study(SMALL, store=store))
        assert len(store) == 2 * SMALL.cells
        assert len(store.outcomes(SMALL)) == SMALL.cells


def test_no_flipped_bit_gives_another_value(tmp_path: Path) -> None:
    """In an earlier version 21 of 400 flipped bits were accepted with another value."""
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        list(study(SMALL, store=store))
        true = {key_of(cell): outcome_text(store.get(cell)) for cell in cells(SMALL)}
        # The journal mode keeps everything in one file.
        store._base.execute("PRAGMA journal_mode = DELETE")
    content, rng = path.read_bytes(), random.Random(0)
    refused, sentences = 0, set()
    for place in rng.sample(range(8 * len(content)), 600):
        damaged = bytearray(content)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        try:
            with Store(path, read_only=True) as store:
                assert set(store.scenarios()) <= {SMALL}
                for cell in cells(SMALL):
                    outcome = store.get(cell)
                    assert outcome is None or outcome_text(outcome) == true[key_of(cell)]
        except InvalidInput as problem:
            refused += 1
            sentences.add(str(problem))
    assert refused > 50
    assert all(str(path) in said and "\n" not in said for said in sentences)


def test_a_file_that_sqlite_has_analysed_is_still_accepted(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        list(study(SMALL, store=store))
    with sqlite3.connect(path) as base:
        base.execute("ANALYZE")
        assert base.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'sqlite_stat%'")
    base.close()
    with Store(path) as store:
        assert len(store.outcomes(SMALL)) == SMALL.cells


def test_reading_leaves_no_other_file_behind(tmp_path: Path) -> None:
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        list(study(SMALL, store=store))
    content_before = path.read_bytes()
    with Store(path, read_only=True) as store:
        assert len(store.outcomes(SMALL)) == SMALL.cells
    assert [p.name for p in tmp_path.iterdir()] == ["results.sqlite"]
    assert path.read_bytes() == content_before

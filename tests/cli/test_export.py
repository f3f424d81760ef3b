"""`dpsco export`: the table has every study and field, and existing files are replaced
atomically.
"""

from __future__ import annotations

import errno
import math
import os
import sqlite3
import stat
import sys
import threading
import zipfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpsco_core import study
from dpsco_core.cli.main import main
from dpsco_core.runs import memory
from dpsco_core.runs.store import Store
from dpsco_core.scenario import Scenario
from tests.golden_sentences import GOLDEN

SMALL = Scenario(methods=("mean.sample", "mean.clipped"), n=50, d=2, trials=2)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return the path of a results file with one study of four cells."""
    return write_store(tmp_path / "results.sqlite", SMALL)


def write_store(path: Path, *scenarios: Scenario) -> Path:
    """Run the studies of some scenarios into a store; return its path."""
    with Store(path) as store:
        for scenario in scenarios:
            list(study(scenario, store=store))
    return path


def export_table(path: Path, kind: str = "csv") -> pd.DataFrame:
    """Export a store as a file of a kind; return the table in it."""
    target = path.with_name(f"cells.{kind}")
    assert main(["export", str(path), f"--{kind}", str(target)]) == 0
    return pd.read_csv(target) if kind == "csv" else pd.read_parquet(target)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_studies_that_differ_in_any_field_differ_in_the_table(tmp_path: Path, kind: str) -> None:
    changes: list[dict[str, Any]] = [
        *({"n": 51}, {"d": 3}, {"epsilon": 2.0}, {"delta": 1e-5}, {"p": 4.0}, {"margin": 1.0}),
        *({"diameter": 6.0}, {"offset": 0.5}, {"seed": 1}, {"distribution": "pareto"}),
        *({"calibration": "paper"}, {"tuning": "theory"}, {"geometry": "linf"}),
        {"geometry": "lq", "q": 4.0},
        {"geometry": "lq", "q": math.inf},
        {"epsilon": None, "delta": None, "rho": 1.0},
        {"problem": "quadratic", "methods": ("sco.erm",)},
        {"problem": "quadratic", "methods": ("user.clipped-means",), "m": 5},
        {"axis": "n", "grid": (50, 60)},
    ]
    studies = [SMALL, *(replace(SMALL, **change) for change in changes)]
    table = export_table(write_store(tmp_path / "results.sqlite", *studies), kind)
    assert len(table) == sum(s.cells for s in studies)
    field_names = [f.name for f in fields(Scenario) if f.name not in ("methods", "grid", "trials")]
    assert list(table.columns[:7]) == [
        *("study", "method", "name", "x", "trial", "error", "error_uncertainty")
    ]
    assert list(table.columns[-len(field_names) :]) == field_names
    scenarios = table.groupby(["study"])[field_names].apply(
        lambda cells: cells.astype(str).iloc[0].to_list()
    )
    assert len({tuple(values) for values in scenarios}) == len(studies)
    assert {str(x) for x in table["q"].dropna()} == {"4.0", "inf"}
    swept = table[table["axis"] == "n"]
    assert list(swept["n"]) == list(swept["x"]) == [50, 50, 60, 60] * 2
    assert table["n"].dtype.kind == table["seed"].dtype.kind == "i"


def test_the_uncertainty_of_an_error_is_in_the_table(tmp_path: Path) -> None:
    scenario = Scenario(problem="logistic", methods=("sco.erm",), n=100, d=2, trials=2)
    path = write_store(tmp_path / "results.sqlite", scenario)
    with Store(path, read_only=True) as store:
        expected = [o.error_uncertainty for o in store.outcomes(scenario)]
    assert min(expected) > 0 and list(export_table(path)["error_uncertainty"]) == expected


def test_a_study_without_cells_and_a_file_without_studies_have_the_same_columns(
    tmp_path: Path, results: Path
) -> None:
    empty = write_store(tmp_path / "empty.sqlite")
    with Store(empty) as store:
        store.begin(SMALL)
    assert list(export_table(results).columns) == list(export_table(empty).columns)
    assert list(export_table(write_store(tmp_path / "none.sqlite")).columns) == list(
        export_table(empty).columns
    )


def test_the_times_can_be_left_out_and_equal_studies_are_then_equal(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        target = tmp_path / f"{name}.csv"
        results = write_store(tmp_path / f"{name}.sqlite", SMALL)
        assert main(["export", str(results), "--csv", str(target), "--no-seconds"]) == 0
        texts.append(target.read_text())
    assert texts[0] == texts[1] and "seconds" not in texts[0].splitlines()[0].split(",")
    assert len(texts[0].splitlines()) == 1 + SMALL.cells


def test_an_incomplete_study_is_reported(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    export_table(results)
    assert not capsys.readouterr().err
    change_base(results, "DELETE FROM cells WHERE trial = 1")
    assert len(export_table(results)) == 2
    assert capsys.readouterr().err == "2 of 4 runs: the study is not complete.\n"
    write_store(results, replace(SMALL, seed=1))
    with Store(results, read_only=True) as store:
        number = [scenario.seed for scenario in store.scenarios()].index(0)
    table = export_table(results)
    assert capsys.readouterr().err == f"2 of 4 runs: study {number} of the table is not complete.\n"
    assert (table["study"] == number).sum() == 2


def test_a_table_without_rows_is_reported(
    tmp_path: Path, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_base(results, "DELETE FROM cells")
    assert len(export_table(results)) == 0
    assert capsys.readouterr().err == (
        "0 of 4 runs: the study is not complete, and there are no rows of it.\n"
    )
    none = write_store(tmp_path / "none.sqlite")
    export_table(none)
    assert capsys.readouterr().err == (
        f"There is no study in {none}: the table has a header and no rows.\n"
    )


def change_base(path: Path, statement: str) -> None:
    """Execute a statement of SQL on the store's data base."""
    base = sqlite3.connect(path)
    with base:
        base.execute(statement)
    base.close()


def test_a_study_of_another_version_is_left_out_and_reported(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_store(results, replace(SMALL, seed=1))
    change_base(
        results,
        "UPDATE studies SET scenario = "
        # A version without checksums would have written the scenario in this form.
        "replace(substr(scenario, 1, instr(scenario, ' #') - 1), 'mean.sample', 'mean.newer') "
        "WHERE scenario LIKE '%\"seed\": 1,%'",
    )
    assert set(export_table(results)["seed"]) == {0}
    message = capsys.readouterr().err
    assert message.startswith(
        f"dpsco: left out 1 of the studies in {results}, which cannot be read"
    )
    assert "got method=mean.newer" in message and message.count("\n") == 1
    change_base(results, "DELETE FROM studies WHERE scenario LIKE '%\"seed\": 0,%'")
    assert main(["export", str(results), "--csv", "-"]) == 2
    message = capsys.readouterr().err
    assert "got method=mean.newer" in message and message.count("\n") == 1


def test_a_damaged_cell_gets_one_sentence_and_status_2(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change_base(results, "UPDATE cells SET outcome = '{' WHERE trial = 1")
    assert main(["export", str(results), "--csv", "-"]) == 2
    printed = capsys.readouterr()
    assert printed.err.endswith(f"got store={results}, which is damaged.\n") and not printed.out
    assert printed.err.count("\n") == 1


def test_a_full_disk_leaves_the_file_that_was_there(
    results: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def torn(_: pd.DataFrame, path: Path, **__: object) -> None:
        """Write the beginning of a file, and fail as on a full disk."""
        Path(path).write_text("study,meth", encoding="utf-8")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    good = results.with_name("good.csv")
    good.write_text("good")
    for kind in ("csv", "parquet"):
        monkeypatch.setattr(pd.DataFrame, f"to_{kind}", torn)
        assert main(["export", str(results), f"--{kind}", str(good)]) == 2
        assert f"{good} cannot be written: No space left on device." in capsys.readouterr().err
        assert good.read_text() == "good"
    other_files = [p.name for p in results.parent.iterdir() if not p.name.startswith(results.name)]
    assert other_files == ["good.csv"]


@pytest.mark.skipif(os.name != "posix", reason="links and permissions of POSIX")
def test_a_file_that_is_replaced_keeps_its_permissions_and_links_to_it(results: Path) -> None:
    folder = results.parent
    (folder / "real").mkdir()
    real, link = folder / "real" / "cells.csv", folder / "cells.csv"
    link.symlink_to(real)
    mask = os.umask(0o022)
    try:
        export_table(results)
        assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o644
        real.chmod(0o640)
        export_table(results)
        assert link.is_symlink() and stat.S_IMODE(real.stat().st_mode) == 0o640
    finally:
        os.umask(mask)
    assert len(pd.read_csv(real)) == 4 and list(real.parent.iterdir()) == [real]


def test_the_files_extension_decides_the_compression(results: Path) -> None:
    assert len(export_table(results, "csv")) == 4
    for ending in ("gz", "zip"):
        target = results.with_name(f"cells.csv.{ending}")
        assert main(["export", str(results), "--csv", str(target)]) == 0
        assert len(pd.read_csv(target)) == 4
    with zipfile.ZipFile(target) as archive:
        assert archive.namelist() == ["cells.csv"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["results.sqlite", "results.sqlite-wal", "hard", "soft"])
def test_the_results_are_never_overwritten(
    results: Path, kind: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    target = results.with_name(name)
    if name == "hard":
        target.hardlink_to(results)
    elif name == "soft":
        target.symlink_to(results)
    content_before = results.read_bytes()
    for store in (results, *([target] if name == "soft" else [])):
        assert main(["export", str(store), f"--{kind}", str(target)]) == 2
        message = capsys.readouterr().err
        assert message == f"dpsco: file must be another one than the results, got file={target}.\n"
    assert results.read_bytes() == content_before


@pytest.mark.skipif(sys.platform != "linux", reason="devices and pipes of Linux")
def test_a_device_or_a_pipe_is_written_directly(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in ("csv", "parquet"):
        assert main(["export", str(results), f"--{kind}", "/dev/full"]) == 2
        assert "No space left on device" in capsys.readouterr().err
        assert main(["export", str(results), f"--{kind}", str(results.parent)]) == 2
        assert "Is a directory" in capsys.readouterr().err
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    pipe = results.with_name("pipe")
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert main(["export", str(results), "--csv", str(pipe)]) == 0
    reader.join()
    assert read[0].count("\n") == 5 and pipe.is_fifo()


@pytest.mark.parametrize("target_flags", [["--workers", "1"], ["--dask", "localhost:1"]])
def test_a_study_whose_outcomes_do_not_fit_into_memory_is_refused(
    tmp_path: Path,
    target_flags: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(memory, "bytes_free", lambda: 50e6)
    file, out = tmp_path / "study.toml", tmp_path / "results.sqlite"
    file.write_text('methods = ["mean.clipped"]\nn = 50\nd = 2\ntrials = 100_000\n')
    assert main(["study", str(file), "--out", str(out), *target_flags]) == 2
    assert "The memory of this run must be at most" in capsys.readouterr().err
    assert not out.exists()


def test_a_study_without_methods_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "study.toml"
    file.write_text("methods = []\nn = 100\n")
    assert main(("study", str(file), "--out", str(tmp_path / "out.sqlite"))) == 2
    assert capsys.readouterr().err == (GOLDEN["a study without methods"])
    assert not (tmp_path / "out.sqlite").exists()

"""A stranger's file is read as it is meant, or refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.explain.columns.table import read_column

VALUES = [round(100 * (300.5 / i) ** 0.8, 2) for i in range(1, 301)]
PLAIN = "\n".join(map(str, VALUES))
FILES = {
    "thousands": "amount\n" + "\n".join(f'"{v:,.2f}"' for v in VALUES),
    "byte order mark": "\ufeff" + PLAIN,
    "carriage returns": PLAIN.replace("\n", "\r"),
    "row numbers": "k,amount\n" + "\n".join(f"{i},{v}" for i, v in enumerate(VALUES)),
    "years": "year,pop\n" + "\n".join(f"{1900 + i % 100},{v}" for i, v in enumerate(VALUES)),
    "German": "k;b\n" + "\n".join(f"{i};{v:.2f}".replace(".", ",") for i, v in enumerate(VALUES)),
    "apostrophes": "\n".join(f"{v:,.2f}".replace(",", "'") for v in VALUES),
    "dollars": "\n".join(f"${v}" for v in VALUES),
}


@pytest.mark.parametrize("dialect", FILES)
def test_every_number_of_a_dialect_is_read(dialect: str) -> None:
    assert read_column(FILES[dialect].encode()).values.tolist() == VALUES
    assert read_column(FILES[dialect].encode("utf-16")).values.tolist() == VALUES
    assert np.mean(VALUES) == pytest.approx(358.83, abs=0.01)


@pytest.mark.parametrize(
    "content",
    [b"\x00\x01\x02", b"", b'"1\n' + b"2\n" * 200, b"9" * 900_000, b"1,234\n" * 200],
)
def test_what_cannot_be_read_is_one_sentence(content: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_column(content)


def test_the_command_says_the_column_and_its_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(FILES["row numbers"])
    assert main(["tail", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["column"], answer["used"], answer["left_out"]) == ("amount", 300, 0)
    assert answer["mean"] == pytest.approx(358.83, abs=0.01)
    assert main(["tail", str(tmp_path / "none.csv")]) == 2

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


def test_a_stray_pair_of_quotation_marks_swallows_no_rows() -> None:
    lines = [f"{k}.5" for k in range(1, 301)]
    lines[10] = '"' + lines[10]
    lines[50] += '"'
    with pytest.raises(InvalidInput, match="close a quotation mark"):
        read_column("\n".join(lines).encode())


def test_negatives_in_brackets_spaces_points_and_per_cent_signs_are_read() -> None:
    for write, value in (
        ("({:.2f})", -1.0),
        ("{:.2f}%", 1.0),
        ("{:.2f}\u00a0€", 1.0),
    ):
        amounts = [1000.25 + k for k in range(300)]
        column = read_column("\n".join(write.format(a) for a in amounts).encode())
        assert column.values.tolist() == [value * a for a in amounts], write
        assert column.left_out == 0
    grouped = "\n".join(f"{k + 1}.234.{567 + k}" for k in range(300)).encode()
    assert read_column(grouped).values[:2].tolist() == [1_234_567.0, 2_234_568.0]


def test_more_than_one_in_twenty_cells_left_out_is_a_refusal_that_quotes_one() -> None:
    cells = [f"{k}.5" for k in range(300)]
    cells[40:44] = ["about 3"] * 4
    assert read_column("\n".join(cells).encode()).left_out == 4
    cells[40:60] = ["about 3"] * 20
    with pytest.raises(InvalidInput, match="'about 3' in line 41"):
        read_column("\n".join(cells).encode())


def test_a_second_table_in_a_file_is_a_refusal_that_quotes_its_header() -> None:
    table = ["k,amount", *(f"{k},{k}.5" for k in range(60))]
    with pytest.raises(InvalidInput, match=r"one table, got 'k,amount' in line 62"):
        read_column("\n".join(table * 2).encode())


def test_any_bytes_are_a_column_or_one_sentence() -> None:
    rng = np.random.default_rng(7)
    alphabet = np.frombuffer(b"0123456789.,;\t\"'-()%$ \n\r\xa0\xc2\xfe\xffeEnax", dtype=np.uint8)
    refused = 0
    for _ in range(400):
        content = rng.choice(alphabet, size=int(rng.integers(0, 400))).tobytes()
        sentence = ""
        try:
            column = read_column(content)
        except InvalidInput as problem:
            refused += 1
            sentence = str(problem)
        else:
            assert np.isfinite(column.values).all()
        assert "\n" not in sentence
    assert refused > 100

"""A user's file is read as it is meant, or refused in one sentence."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.explain.columns.records import read_records
from dpsco_core.explain.columns.table import read_column
from tests.golden_sentences import GOLDEN

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
def test_an_unreadable_file_is_refused_in_one_sentence(content: bytes) -> None:
    with pytest.raises(InvalidInput):
        read_column(content)


def test_the_command_prints_the_column_and_its_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.csv"
    path.write_text(FILES["row numbers"])
    assert main(["tail", str(path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["column"], answer["used"], answer["left_out"]) == ("amount", 300, 0)
    assert answer["mean"] == pytest.approx(358.83, abs=0.01)
    assert main(["tail", str(tmp_path / "none.csv")]) == 2


def test_an_unbalanced_pair_of_quotation_marks_swallows_no_rows() -> None:
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


AMOUNTS = [f"{k}.5" for k in range(300)]


def in_lines(*rows: str) -> bytes:
    """Return the bytes of a file with these lines."""
    return "\n".join(rows).encode()


def test_missing_marks_are_counted_and_shown_with_their_line() -> None:
    cells = list(AMOUNTS)
    cells[11:26] = ["n/a"] * 15
    cells[40] = "about 3"
    column = read_column(in_lines(*cells))
    assert (len(column.values), column.left_out) == (284, 16)
    assert column.notes[-1] == (GOLDEN["numbers of one column"])
    blank = read_column(in_lines("k,amount", *(f"{k}," for k in range(3)), "3,2.5"))
    assert blank.left_out == 0 and blank.values.tolist() == [2.5]


def test_aligned_columns_are_told_apart_and_groups_of_thousands_are_not() -> None:
    for gap in (" ", "   "):
        rows = [f"{k:4d}{gap}{a:>6}" for k, a in enumerate(AMOUNTS)]
        assert read_column(in_lines(*rows)).names == ("column 1", "column 2")
        column = read_column(in_lines(f"   k{gap}amount", *rows))
        assert (column.name, column.names) == ("amount", ("k", "amount"))
        assert column.values.tolist() == [float(a) for a in AMOUNTS]
    grouped = read_column(in_lines("Total amount", *(f"{k + 1} 234,5" for k in range(0, 600, 2))))
    assert grouped.names == ("Total amount",) and grouped.values[1] == 3234.5
    with pytest.raises(InvalidInput, match=r"'0\.5 kg' in line 2"):
        read_column(in_lines("weight", *(f"{a} kg" for a in AMOUNTS)))


def test_names_of_columns_can_be_numbers() -> None:
    rows = [f"place {k},{k}.5,{k}.25" for k in range(200)]
    column = read_column(in_lines("country,2019,2020", *rows), "2020")
    assert column.names == ("2019", "2020") and len(column.values) == 200
    assert column.notes == (GOLDEN["names in the first line"],)
    assert read_column(in_lines("k,10,20", *(f"{3 * k},{k}.5,7.5" for k in range(200)))).names == (
        *("k", "10", "20"),
    )
    years = [f"place {k},{1900 + k % 100}" for k in range(200)]
    # A first row that consists of data is not taken for a header.
    assert len(read_column(in_lines(*years)).values) == 200


def test_a_first_row_of_missing_marks_is_not_a_header() -> None:
    for marker, width in (("NA", 1), ("n/a,NA", 2), ("place,NA", 2)):
        rows = [",".join([*["place"] * (marker == "place,NA"), *[a] * 2][:width]) for a in AMOUNTS]
        column = read_column(in_lines(marker, *rows))
        assert column.left_out == 1 and column.name.startswith("column"), marker


def test_each_of_two_columns_with_one_name_can_be_chosen() -> None:
    rows = [f"{k}.5,{k}.25,{k}.125" for k in range(200)]
    content = in_lines("amount,amount,amount (2)", *rows)
    names = ("amount", "amount (3)", "amount (2)")
    assert read_column(content).names == names
    assert [read_column(content, name).values[0] for name in names] == [0.5, 0.25, 0.125]


def test_a_line_keeps_its_number_after_a_cell_of_several_lines() -> None:
    rows = [f'"one\ntwo\nthree",7,{a}' for a in AMOUNTS]
    rows[20] = "x,7,none of these"
    column = read_column(in_lines("note,k,amount", *rows), "amount")
    assert [(e.cell, e.line) for e in column.examples] == [("none of these", 2 + 3 * 20)]
    rows[30] = "1,2"
    with pytest.raises(InvalidInput, match=r"'1,2' in line 90\."):
        read_column(in_lines("note,k,amount", *rows))


@pytest.mark.parametrize("header", ["k,amount", "k,m,amount"])
def test_a_title_above_a_table_is_a_refusal_that_quotes_it(header: str) -> None:
    rows = [",".join([str(k)] * header.count(",") + [a]) for k, a in enumerate(AMOUNTS)]
    for title in ("Report of the year 2020", "Report, all amounts, in thousands, 2020"):
        with pytest.raises(InvalidInput, match=rf"'{title}' in line 1\."):
            read_column(in_lines(title, header, *rows))


def test_one_or_two_numbers_per_line_are_read_or_refused() -> None:
    rows = [f"{k},{k % 7 + 3}" for k in range(1, 2001)]
    column = read_column(in_lines(*rows))
    assert column.name == "column 2" and column.values[:2].tolist() == [4.0, 5.0]
    assert "'1,4' is not one number with a decimal comma" in column.notes[0]
    for unclear in ("{}234,56", "{},5", "{},234.5"):
        with pytest.raises(InvalidInput, match="one number or two"):
            read_column(in_lines(*(unclear.format(k + 1) for k in range(0, 600, 2))))
    single = in_lines(*(f"{k},25" for k in range(0, 600, 2)), "7", "NA")
    assert read_column(single).values[1:].tolist()[-2:] == [598.25, 7.0]
    assert read_column(in_lines("price", "NA", *(f"{k}234,56" for k in range(1, 9)))).left_out == 1
    assert read_column(in_lines(*(f"{k},234,567" for k in range(1, 900, 2)))).values[0] == 1234567


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


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('k,b\n1,2\n3,4\n5,"6\n7,8\n', "'5,\"6' in line 4"),
        ('b\n1\n"3\n4"\n5\n"6\n7\n', "'\"6' in line 6"),
        ('k;b\r1;2\r3;"4\r5;6\r', "'3;\"4' in line 3"),
        ('"1\n' + "2\n" * 200, "'\"1' in line 1"),
    ],
)
def test_an_unclosed_quotation_mark_is_reported_with_its_line(text: str, quoted: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_column(text.encode())
    must = "file must close every quotation mark that it opens"
    assert str(refusal.value) == f"{must}, got {quoted}."


def test_any_bytes_give_a_column_or_one_sentence() -> None:
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
            assert "tokeniz" not in sentence and "C error" not in sentence
        else:
            assert np.isfinite(column.values).all()
        assert "\n" not in sentence
    assert refused > 100


@pytest.mark.parametrize("middle", [1e6, 1.7e12])
def test_the_command_writes_a_mean_down_to_its_error(
    middle: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    values = middle + np.random.default_rng(0).standard_normal(5000)
    path = tmp_path / "x.csv"
    path.write_text("\n".join(map(repr, np.minimum(values, middle + 2.5).tolist())))
    assert main(["tail", str(path)]) == 0
    message = capsys.readouterr().out
    mean = float(message.split("mean ")[1].split("\n")[0].replace(",", ""))
    assert mean == pytest.approx(np.minimum(values, middle + 2.5).mean(), abs=0.001)
    assert f"numbers are equal to the largest, {middle + 2.5:.15g}: a cap hides the tail" in message


def test_the_command_gives_its_answer_as_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [f"{v}".replace(".", ",") for v in VALUES]
    cells[9:11] = ["n/a", "about 3"]
    content = in_lines(
        "k;year;amount;place", *(f"{i};{1900 + i // 4};{c};x" for i, c in enumerate(cells))
    )
    (tmp_path / "x.csv").write_bytes(content)
    assert main(["tail", str(tmp_path / "x.csv"), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["column"], answer["used"], answer["left_out"]) == ("amount", 298, 2)
    assert answer["kinds"] == {
        **{"k": "row numbers", "year": "times", "amount": "numbers", "place": "text"},
    }
    assert answer["examples"] == [
        {"cell": "n/a", "line": 11, "is_missing": True},
        {"cell": "about 3", "line": 12, "is_missing": False},
    ]
    assert answer["assumptions"] == ["Decimal mark: comma."]
    assert answer["notes"][:1] == answer["assumptions"] and len(answer["notes"]) == 2
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
    assert main(["tail", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == answer
    assert main(["tail", "/dev/zero"]) == 2
    assert "/dev/zero must be at most 8,388,608 bytes (8 MB), got more." in capsys.readouterr().err


def with_unknowns(count: int, of: int = 5000) -> bytes:
    """Return a file of ids and amounts, with a block of `count` unknown amounts from line 102."""
    cells = [f"{k}.5" for k in range(of)]
    cells[100 : 100 + count] = ["unknown"] * count
    return in_lines("id,amount", *(f"{k},{cell}" for k, cell in enumerate(cells)))


def test_a_column_with_too_many_texts_is_refused_by_its_name_with_the_first() -> None:
    """The column was once not offered at all, since its first 500 cells were mostly text."""
    message = (
        "amount has 300 cells that are no numbers, the first is 'unknown' in line 102: at most 5 % "
        "of its 5,000 cells may be, beside blank cells and marks such as NA."
    )
    for read in (read_column, lambda content, name: read_records(content, [name])):
        with pytest.raises(InvalidInput) as refusal:
            read(with_unknowns(300), "amount")
        assert str(refusal.value) == message
    column = read_column(with_unknowns(250), "amount")
    assert (len(column.values), column.left_out) == (4750, 250) and "amount" in column.names


def test_a_column_of_text_or_blank_cells_is_refused_by_its_name() -> None:
    content = in_lines("city,note,amount", *(f"place {k},,{k}.5" for k in range(300)))
    with pytest.raises(InvalidInput, match="^city has 300 cells .* first is 'place 0' in line 2:"):
        read_column(content, "city")
    with pytest.raises(InvalidInput, match="^note has no number in its 300 cells"):
        read_column(content, "note")
    with pytest.raises(InvalidInput, match=r"one of city, note, amount \(did you mean amount\?\)"):
        read_column(content, "amunt")

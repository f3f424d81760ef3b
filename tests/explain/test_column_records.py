"""Several columns form records: one for each row with a number in all of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_core.base.errors import InvalidInput
from dpsco_core.cli.main import main
from dpsco_core.explain.columns.records import read_records
from dpsco_core.explain.columns.table import read_column
from dpsco_core.explain.tails import heaviest, joint_order, tail, tails
from tests.golden_sentences import GOLDEN

PAY = np.random.default_rng(0).random(300) ** (-1 / 2.5)
SIZE = 1000 * np.random.default_rng(1).standard_normal(300)

CELLS = st.one_of(
    st.floats(-1e6, 1e6).map(lambda value: f"{value:.3f}"),
    st.sampled_from(["", "n/a", "-", "NA"]),
)


def as_csv(*rows: str) -> bytes:
    """Return the bytes of a file with three columns and these rows."""
    return "\n".join(("place,pay,size", *rows)).encode()


def rows_of(pay: np.ndarray = PAY, size: np.ndarray = SIZE) -> list[str]:
    """Return the rows of a file with a place, a pay and a size each."""
    pairs = zip(pay.tolist(), size.tolist(), strict=True)
    return [f"p{k},{a},{b}" for k, (a, b) in enumerate(pairs)]


def with_gaps() -> list[str]:
    """Return rows of which 16 lack one number, and another lacks both."""
    rows = rows_of()
    rows[10:20] = [f"p,n/a,{k}.5" for k in range(10)]
    rows[30:35] = [f"p,{k}.5," for k in range(5)]
    rows[40] = "p,2.5,about 3"
    rows[50] = "p,,"
    return rows


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=40))
def test_a_record_holds_the_numbers_of_one_line(pairs: list[tuple[str, str]]) -> None:
    pairs = [("1.5", "2.5")] * 50 + pairs
    content = as_csv(*(f"p,{a},{b}" for a, b in pairs))
    complete = [(a, b) for a, b in pairs if a[-1:].isdigit() and b[-1:].isdigit()]
    lacking = [(a, b) for a, b in pairs if (a or b) and (a, b) not in complete]
    for names in (["pay", "size"], ["size", "pay"]):
        records = read_records(content, names)
        expected = [(float(a), float(b))[:: 1 if names[0] == "pay" else -1] for a, b in complete]
        assert records.values.tolist() == [list(record) for record in expected]
        assert (records.count, records.left_out) == (len(complete), len(lacking))
        gaps = tuple(sum(not row[k][-1:].isdigit() for row in lacking) for k in (0, 1))
        assert records.lacking == (gaps if names[0] == "pay" else gaps[::-1])


@settings(deadline=None, max_examples=50)
@given(st.lists(CELLS, min_size=1, max_size=40))
def test_records_of_one_column_are_its_numbers(cells: list[str]) -> None:
    content = "\n".join(["amount", *["1.5"] * 50, *(f'"{cell}"' for cell in cells)]).encode()
    column, records = read_column(content), read_records(content)
    assert records.values.shape == (len(column.values), 1)
    assert records.values[:, 0].tolist() == column.values.tolist()
    for name in ("names", "kinds", "left_out", "examples", "assumptions", "notes"):
        assert getattr(records, name) == getattr(column, name), name


def test_a_row_without_a_number_is_left_out_counted_and_shown_with_its_line() -> None:
    records = read_records(as_csv(*with_gaps()), ["pay", "size"])
    assert (records.count, records.left_out, records.lacking) == (283, 16, (10, 6))
    assert records.notes == (GOLDEN["rows of two columns"],)
    rows = rows_of()
    rows[0] = f"p,{PAY[0]},"
    sized_records = read_records(as_csv(*rows), ["size", "pay"])
    assert sized_records.notes == (GOLDEN["a row with a blank cell"],)
    assert np.isfinite(records.values).all() and np.isin(records.values[:, 0], PAY).sum() == 283
    whole = read_records(as_csv(*rows_of()), ["pay", "size"])
    assert whole.notes == (GOLDEN["no row is left out"],)


def test_assumptions_about_one_column_name_only_that_column() -> None:
    rows = [f"p;{a:.2f};{b:.2f}".replace(".", ",") for a, b in zip(PAY, SIZE, strict=True)]
    semicolon_records = read_records("\n".join(["place;pay;size", *rows]).encode(), ["pay", "size"])
    assert semicolon_records.assumptions == ("Decimal mark: comma.",)
    rows = [f"p;{a};${abs(b):.2f}" for a, b in zip(PAY, SIZE, strict=True)]
    single_record = read_records("\n".join(["place;pay;size", *rows]).encode(), ["pay", "size"])
    assert single_record.assumptions == (GOLDEN["a unit with a sign"],)


def test_too_few_rows_in_common_are_refused_although_each_column_has_enough() -> None:
    rows = rows_of()
    rows[:150] = [f"p,{a}," for a in PAY[:150]]
    rows[150:] = [f"p,,{b}" for b in SIZE[150:]]
    records = read_records(as_csv(*rows), ["pay", "size"])
    with pytest.raises(InvalidInput, match="rows must be at least 100 with a number in every"):
        tails(records.values, records.chosen)
    with pytest.raises(InvalidInput, match="^column same: numbers must be at least 100 different"):
        tails(np.column_stack([PAY, np.ones(300)]), ["pay", "same"])
    with pytest.raises(InvalidInput, match="column must be one of"):
        read_records(as_csv(*rows), ["pay", "weight"])


def test_a_record_has_the_heaviest_tail_of_its_columns_whatever_their_scales() -> None:
    fits = tails(np.column_stack([SIZE, 1e-9 * PAY, SIZE[::-1]]), ["a", "b", "c"])
    assert [fit.shape for fit in fits[:2]] == [
        tail(SIZE).shape,
        pytest.approx(tail(PAY).shape, rel=1e-6),
    ]
    assert heaviest(fits) == 1
    offered = (2.0, 2.5, 3.0, 5.0)
    assert joint_order(fits, offered, 0.1) == min(fit.order(offered, 0.1) for fit in fits)
    assert joint_order(fits[:1], offered, 0.1) == fits[0].order(offered, 0.1)


def test_the_command_answers_for_the_records_of_several_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(as_csv(*with_gaps()))
    command = ["tail", str(path), "--column", "size", "--column", "pay"]
    assert main([*command, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["column"], answer["used"], answer["left_out"]) == (["size", "pay"], 283, 16)
    remaining = np.r_[0:10, 20:30, 35:40, 41:50, 51:300]
    assert answer["mean"] == pytest.approx([SIZE[remaining].mean(), PAY[remaining].mean()])
    assert [one["lacking"] for one in answer["by_column"]] == [6, 10]
    assert answer["heaviest"] == "pay"
    assert (
        answer["tail_index"] == answer["by_column"][1]["tail_index"] == tail(PAY[remaining]).index
    )
    assert answer["examples"][0] == {
        **{"cell": "n/a", "line": 12, "is_missing": True, "column": "pay"},
    }
    assert main(command) == 0
    message = capsys.readouterr().out
    assert message.startswith(
        "size and pay: 283 rows used, 16 left out, for example 'n/a' in column "
    )
    assert "the heaviest tail of its columns, pay: tail index" in message
    assert message.count("rows used") == 1

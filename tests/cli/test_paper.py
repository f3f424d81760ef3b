"""The commands `dpsco paper` and `dpsco figure`: a paper's statements in numbers and pictures."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dpsco_core.cli.main import main
from dpsco_core.explain.tables.papers.papers import PAPERS
from tests.golden_sentences import GOLDEN

SMALL = ("--n", "3000", "--trials", "2")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must succeed; return what it prints."""
    assert main(words) == 0
    return str(capsys.readouterr().out)


@pytest.mark.parametrize("key", [entry.key for entry in PAPERS])
def test_a_paper_is_printed_statement_by_statement_within_100_columns(
    capsys: pytest.CaptureFixture[str], key: str
) -> None:
    text = printed(capsys, "paper", key, *SMALL)
    assert [line for line in text.splitlines() if len(line) > 100] == []
    words = " ".join(text.split())
    assert GOLDEN["a paper without experiments"] in words
    assert "where constants are 1 the paper hides them" in words
    entry = next(entry for entry in PAPERS if entry.key == key)
    for number, section in enumerate(entry.sections, start=1):
        assert f"{number}. {section.title}: " in words


def test_the_rows_of_a_paper_have_the_numbers_of_dpsco_bounds_and_dpsco_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ("paper", "kamath-2022", "--section", "1", *SMALL, "--epsilon", "2")
    document = json.loads(printed(capsys, *words, "--json"))
    (section,) = document["sections"]
    fields = section["scenario"]
    assert (fields["n"], fields["epsilon"], fields["trials"]) == (3000, 2.0, 2)
    flags = ("--n=3000", "--d=5", "--p=2", "--epsilon=2", "--trials=2")
    bounds = json.loads(printed(capsys, "bounds", *flags, "--json"))["bounds"]
    values = {row["slug"]: (row["value"], row["holds"]) for row in bounds}
    run = json.loads(printed(capsys, "run", *flags, "--method=mean.cwme-cdp", "--json"))
    for row in section["statements"]:
        value = row["reworked"] if row["printed"] is None else row["printed"]
        assert (value, row["holds"]) == values[row["slug"]]
        if row["method"] == "mean.cwme-cdp":
            assert row["measured"] == pytest.approx(run["results"][0]["mean_error"], rel=1e-12)
            assert row["proven"] == values[row["proven_by"]][0]
    text = printed(capsys, *words)
    corollary = next(line for line in text.splitlines() if line.startswith("Corollary 4.2 (CDP"))
    numbers = [float(number) for number in re.findall(r"\d\.\d+", corollary)][1:]
    (row,) = (r for r in section["statements"] if r["slug"] == "upper.mean.cwme-cdp")
    expected = [row["printed"], row["proven"], row["measured"]]
    assert numbers == pytest.approx(expected, rel=6e-3)


def test_the_papers_are_listed_and_an_unknown_one_is_refused_in_a_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, "paper")
    assert all(f"\n{entry.key} " in f"\n{text}" for entry in PAPERS)
    listed = json.loads(printed(capsys, "paper", "--json"))["papers"]
    assert [row["key"] for row in listed] == [entry.key for entry in PAPERS]
    for words, sentence in (
        (("kamath",), "dpsco: paper must be one of kamath-2022, "),
        (("kamath-2022", "--section", "9"), "section must be an integer from 1 to 2, got"),
        (("kamath-2022", "--section", "one"), "section must be "),
        (("kamath-2022", "--axis", "n"), "axis must be left out of a paper"),
    ):
        assert main(("paper", *words)) == 2
        assert sentence in capsys.readouterr().err


def test_a_figure_is_a_pdf_of_four_panels_with_its_slopes_as_latex(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture, slopes = tmp_path / "figure.pdf", tmp_path / "slopes.tex"
    words = ("--like", "kamath-2022", "--out", str(picture), "--table", str(slopes))
    assert main(("figure", *words, "--n", "4000", "--trials", "3", "--json")) == 0
    document = json.loads(capfd.readouterr().out)
    assert [panel["axis"] for panel in document["panels"]] == ["n", "d", "epsilon", "p"]
    assert "no experiments" in document["experiments_note"]
    (box,) = re.findall(rb"/MediaBox \[ ?0 0 ([\d.]+) ([\d.]+) ?\]", picture.read_bytes())
    assert float(box[0]) > 6 * 72 and float(box[1]) > 4 * 72
    text = slopes.read_text(encoding="utf-8")
    assert text.count(r"\multicolumn{2}{c}") == 3 and r"\bottomrule" in text
    for curve in document["panels"][0]["curves"]:
        assert f"{curve['fitted']:.2f}" in text


def test_a_figure_that_cannot_be_drawn_is_refused_in_a_sentence(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pdf = str(tmp_path / "figure.pdf")
    for words, sentence in (
        (("--like", "kamath", "--out", pdf), "paper must be one of kamath-2022, "),
        (("--like", "kamath-2022", "--out", "a.png"), "out must be a file that ends in .pdf"),
        (("--like", "kamath-2022", "--out", pdf, "--section", "7"), "section must be an integer"),
    ):
        assert main(("figure", *words)) == 2
        assert sentence in capfd.readouterr().err


def test_a_section_of_a_paper_is_a_table_of_latex_with_the_numbers_of_the_screen(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    target = tmp_path / "table.tex"
    words = ("paper", "zhao-2024", "--section", "1", *SMALL)
    document = json.loads(printed(capsys, *words, "--tex", str(target), "--json"))
    text = target.read_text(encoding="utf-8")
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1
    body = text.split(r"\midrule")[1].split(r"\bottomrule")[0]
    rows = [line.removesuffix(r" \\").split(" & ") for line in body.strip().splitlines()]
    (section,) = document["sections"]
    assert len(rows) == len(section["statements"]) > 3
    heads = text.split(r"\toprule")[1].split(r"\midrule")[0].strip().split(" & ")
    assert {len(row) for row in rows} == {len(heads)} == {8}
    for row, statement in zip(rows, section["statements"], strict=True):
        assert row[1] == statement["kind"]
        for place, name in ((2, "printed"), (4, "reworked"), (5, "proven"), (6, "measured")):
            value = re.sub(r"\\cdot10\^\{(-?\d+)\}", r"e\1", row[place].strip("$"))
            expected = statement[name]
            if expected is None:
                assert value in ("", "-")
            else:
                assert float(value) == pytest.approx(expected, rel=6e-3)
        assert row[7].startswith("yes" if statement["holds"] else "no (")
    assert re.search(r"(?<!\\)[%#_&]", text.split(r"\caption")[1]) is None
    assert "n 3000" in text


def test_a_table_of_latex_needs_a_paper(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(("paper", "--tex", str(tmp_path / "table.tex"))) == 2
    message = capsys.readouterr().err
    assert "KEY must be given with --tex" in message and message.count("\n") == 1
    assert not (tmp_path / "table.tex").exists()

"""docs/own-data.md, from top to bottom: each command and each block of Python works as printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from dpsco_core.cli.main import main

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python)?\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def words_of(block: str) -> list[list[str]]:
    """Return the words behind `dpsco` of each command of a block."""
    lines = block.replace("\\\n", " ").splitlines()
    commands = [shlex.split(line) for line in lines]
    assert all(words[0] == "dpsco" for words in commands)
    return [words[1:] for words in commands]


def test_everything_on_the_page_works_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    texts: dict[str, str] = {}
    for kind, block in BLOCKS:
        if kind:
            exec(compile(block, "own-data.md", "exec"), namespace)
            continue
        for words in words_of(block):
            assert main(words) == 0, words
            text = capsys.readouterr().out
            assert [line for line in text.splitlines() if len(line) > 100] == [], words
            texts[" ".join(words)] = text
    assert {text.split()[0] for text in texts} == {"tail", "run", "release", "budget", "need"}
    means = {w: text for w, text in texts.items() if "--method mean.clipped --p" in w}
    [mean_text] = [text for words, text in means.items() if "--plan" not in words]
    [plan_text] = [text for words, text in means.items() if "--plan" in words]
    # The interval of the release is the one that its plan said.
    ends = re.search(r"95 % interval: (\S+) to (\S+),", mean_text)
    planned = re.search(r"95 % interval, in your unit: (\S+)", plan_text)
    assert ends and planned
    half = (float(ends[2].replace(",", "")) - float(ends[1].replace(",", ""))) / 2
    assert half == pytest.approx(float(planned[1]), rel=0.01)
    in_range = namespace["in_range"]
    assert abs(in_range.value[0] - namespace["ages"].mean()) < 3 * in_range.rows_interval[0]
    assert "95 % interval: " in mean_text
    # The true mean absolute error is that of noise with a standard deviation of 4 hours.
    error = namespace["error"]
    assert abs(error.value[0] - 4 * (2 / 3.14159) ** 0.5) < error.interval
    assert namespace["model"].interval is None and len(namespace["filled"]) == 5000


def test_the_page_states_p_wherever_a_unit_is_stated() -> None:
    """The defaults of run and release differ, and the unit is a bound on that moment."""
    for kind, block in BLOCKS:
        parts = re.findall(r"release\((.*?)\n\)", block, re.DOTALL) if kind else [block]
        for part in parts:
            if "unit" in part:
                assert re.search(r"\bp=2|--p 2", part), part


def test_the_page_is_linked_from_where_people_begin() -> None:
    assert "(docs/own-data.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(own-data.md)" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")

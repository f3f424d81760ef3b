"""`dpsco about` tells every method in plain words, within 100 columns."""

from __future__ import annotations

import re

import pytest

from dpsco_core.catalogue import METHOD_SLUGS
from dpsco_core.cli.main import main

RAW = re.compile(r"\\[a-zA-Z]+|\$|[_^]\{")


@pytest.mark.parametrize("slug", METHOD_SLUGS)
def test_a_method_is_told_without_latex_within_100_columns(
    capsys: pytest.CaptureFixture[str], slug: str
) -> None:
    assert main(["about", slug, "--n", "2000", "--d", "5"]) == 0
    text = capsys.readouterr().out
    assert RAW.findall(text) == []
    assert [line for line in text.splitlines() if len(line) > 100] == []

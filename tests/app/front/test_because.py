"""The sentence on a change says what has changed, on the hardest data the data themselves."""

from __future__ import annotations

from dataclasses import replace

from dpsco_app.front.because import because
from dpsco_app.front.pictures.data import far_label, far_records
from dpsco_app.parts.presets import FIRST
from dpsco_core.scenario import Scenario


def test_on_the_hardest_data_the_sentence_names_the_far_records_before_and_after() -> None:
    old = FIRST.scenario
    new = replace(old, epsilon=2.0)
    old_records, new_records = far_records(old), far_records(new)
    assert old_records is not None and new_records is not None
    assert old_records.count > new_records.count
    text = because(old, new, "epsilon")
    count, distance = far_label(new_records).split(" at ")
    assert text == (
        f"Because ε was doubled, the hardest data have {count} far records at {distance}, not "
        f"{far_label(old_records)}:"
    )
    lighter_text = because(old, replace(old, p=20.0), "p")
    assert lighter_text.startswith(
        "Because the tail is lighter, the hardest data have 9 far records at"
    )
    more_records = because(old, replace(old, n=10 * old.n, grid=(*old.grid, 10 * old.n)), "n")
    assert more_records.startswith("Because n grew to 100,000, the hardest data have 7 far records")


def test_where_the_data_stay_the_same_the_sentence_is_about_the_noise() -> None:
    old = Scenario(epsilon=1.0)
    text = because(old, replace(old, epsilon=2.0), "epsilon")
    assert text.startswith("Because ε was doubled, the noise fell to")

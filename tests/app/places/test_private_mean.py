"""A private mean: the picture for the scenario of the visit."""

from __future__ import annotations

import json
import re
from typing import Any

from dpsco_app.parts.touch.modules import text
from dpsco_core.explain.picture import SHOWN_RECORDS
from tests.app.places.test_one_run import open_at


def sent(app: Any) -> dict[str, Any]:
    """Return the sample of records that the page sends to the browser for its picture."""
    assert not app.exception
    (component,) = (c for c in app.get("bidi_component") if "dpsco_touch_picture" in str(c.proto))
    return dict(json.loads(component.proto.json)["samples"][0])


def test_the_picture_shows_the_visits_scenario_and_has_no_controls_for_it() -> None:
    for query in ({"n": "150", "epsilon": "2", "p": "4"}, {"n": "12345", "epsilon": "0.7"}):
        app = open_at("private_mean", **query)
        sample = sent(app)
        for name, value in query.items():
            assert sample[name] == float(value)
        has_many = int(query["n"]) > SHOWN_RECORDS
        assert len(sample["records"]) == min(int(query["n"]), SHOWN_RECORDS)
        assert (
            any("500 of the 12,345 records are drawn" in c.value for c in app.caption) == has_many
        )
        assert any("not private itself" in c.value for c in app.main.caption)
    names = re.findall(r'<input[^>]* name="(\w+)"', text("picture.html"))
    assert names == ["radius", "distance"]
    hard = open_at("private_mean", distribution="hypercube").main.caption
    assert any("these records follow Pareto (one-sided)." in c.value for c in hard)
    assert not any("hard instance" in c.value for c in open_at("private_mean").main.caption)
    assert any("with δ = 10⁻⁶" in c.value for c in open_at("private_mean", delta="0").caption)


def test_the_circle_is_centred_at_0_and_the_caption_says_so() -> None:
    app = open_at("private_mean")
    assert sent(app)["mean"] != [0, 0]
    assert '"Drag the circle around 0: ' in text("texts.js")
    assert any("a centre read off the records would leak" in c.value for c in app.main.caption)


def test_the_picture_of_an_optimisation_scenario_shows_a_mean() -> None:
    app = open_at("private_mean", problem="huber")
    assert sent(app)
    assert any("The picture is about a mean" in m.value for m in app.markdown)

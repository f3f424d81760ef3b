"""What the trials leave without a difference: errors of 0, and methods that are level."""

from __future__ import annotations

from dataclasses import replace

from dpsco_app.front.answer import Answer, answer
from dpsco_app.front.figure import front_figure
from dpsco_app.front.study import Study
from dpsco_app.front.titles import NO_BREAK
from dpsco_app.front.view import View
from dpsco_core.scenario import Scenario
from tests.app.results import run

L1 = Scenario(
    problem="linear",
    methods=("sco.erm", "sco.clipped", "sco.cwme"),
    geometry="l1",
    d=5,
    axis="n",
    grid=(500, 1000),
    trials=3,
)


def with_errors(scenario: Scenario, errors: dict[str, tuple[float, float]]) -> Study:
    """Return a study whose methods have given errors at the two points of its axis."""
    made = run(scenario).outcomes
    return Study(
        scenario=scenario,
        outcomes=[replace(o, error=errors[o.method][o.x == scenario.grid[1]]) for o in made],
    )


def small(reply: Answer) -> str:
    return "".join(text for text, _ in reply.small).replace(NO_BREAK, " ")


def test_an_error_of_zero_is_drawn_at_the_edge_and_said_above() -> None:
    at = replace(L1, n=1000)
    study = with_errors(at, {"sco.erm": (0, 0), "sco.clipped": (0.5, 0), "sco.cwme": (0.6, 0.3)})
    figure = front_figure([study], View(), "An answer")
    edge, label = figure.y.ticks[0]
    (panel,) = figure.panels
    heights = {line.key: list(line.y) for line in panel.lines if line.kind == "measured"}
    assert label == "0" and figure.y.low < edge < 0.3
    assert heights == {"sco.erm": [edge] * 2, "sco.clipped": [0.5, edge], "sco.cwme": [0.6, 0.3]}
    assert "lower edge" in str([words.lines for words in panel.words]) and panel.gap is None
    values = {row.key: row.values[0] for row in figure.ladder.rows}
    assert (values["sco.erm"], values["sco.clipped"], values["sco.cwme"]) == ("0", "0", "0.30")
    assert study.lead == "sco.clipped"
    assert (
        answer([study]).plain == f"No cost: excess risk 0 in all 3 runs on Student{NO_BREAK}t data"
    )
    assert small(answer([study])).endswith("clipped gradients, at n = 1,000, d = 5, ε = 1.")
    assert answer([replace(study, scenario=replace(at, n=500))]).headline[0] == (
        "Excess risk 0.50 instead of 0"
    )


def test_the_best_is_level_with_what_the_trials_do_not_tell_from_it() -> None:
    study = with_errors(
        L1, {"sco.erm": (0.1, 0.1), "sco.clipped": (0.2, 0.2), "sco.cwme": (0.3, 0.3)}
    )
    assert study.level == () and "level" not in small(answer([study]))
    noise = {("sco.cwme", trial): 0.2 + change for trial, change in enumerate((-0.05, 0.0, 0.06))}
    close = [replace(o, error=noise.get((o.method, o.trial), o.error)) for o in study.outcomes]
    tied = replace(study, outcomes=close)
    assert (tied.lead, tied.level) == ("sco.clipped", ("sco.cwme",))
    words = "clipped gradients (level with coordinate-wise gradients), against"
    assert words in small(answer([tied])) and "level" not in answer([tied]).plain
    # In two panels the one that is best, or level with the best, in both of them is named.
    other = replace(tied, outcomes=[replace(o, error=0.2) for o in close], role="tail")
    assert "on the left" not in small(answer([tied, other])) and words in small(
        answer([tied, other])
    )
    assert "level" not in small(answer([study, other])).split("against")[0]

"""The visitor's own data: the analysis of their tails, and private means of the records."""

from __future__ import annotations

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.pages.explore.own_numbers import (
    ABOUT,
    READ,
    fitting,
    in_words,
    tail_figure,
)
from dpsco_app.pages.explore.own_releases import RELEASED
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.explain.columns.decode import LARGEST_BYTES
from dpsco_core.explain.tails import interval_in_words, tail
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page, open_page
from tests.golden_sentences import GOLDEN


def pareto(index: float, n: int = 4800, seed: int = 0) -> np.ndarray:
    """Draw n numbers from the Pareto law with this tail index."""
    return np.random.default_rng(seed).random(n) ** (-1 / index)


def draw_dialog() -> None:
    """Draw the part of the dialog that reads a file, since a test cannot keep the dialog open."""
    from dpsco_app.pages.explore import own_numbers
    from dpsco_app.shell import visit
    from dpsco_core.scenario import Scenario

    if not visit.current().page.name:
        visit.current().show(Scenario())
    own_numbers.draw_file()


def with_file(content: bytes) -> AppTest:
    """Return the dialog after a visitor has uploaded a file."""
    page = check_page(AppTest.from_function(draw_dialog, default_timeout=60).run())
    return check_page(
        page.file_uploader(key="own_numbers_file").set_value(("x.csv", content, "text/csv")).run()
    )


def as_csv(values: np.ndarray) -> bytes:
    """Return the bytes of a file with one number a line."""
    return "\n".join(map(repr, values.tolist())).encode()


def words_of(page: AppTest) -> str:
    """Return all text, captions and errors of a page."""
    return "\n".join(m.value for m in (*page.markdown, *page.caption, *page.error))


def test_the_scenario_that_matches_has_the_numbers_law_order_size_and_one_dimension() -> None:
    fit = tail(pareto(3))
    matching = fitting([fit], Scenario())
    assert (matching.distribution, matching.n, matching.d) == ("skewed-pareto", 5000, 1)
    assert 2 <= matching.p <= fit.index - matching.margin
    text = in_words([fit], ["x"], matching, [1.234])
    assert f"{fit.index:.2g}" in text and "4,800 numbers" in text and "1.23 in your" in text
    assert f"95 % interval {interval_in_words(*fit.interval)}" in text and "d = 1" in text
    matching.validate(DASHBOARD)


def test_the_tail_of_few_numbers_is_called_possibly_light() -> None:
    rng = np.random.default_rng(5)
    fits = [tail(rng.standard_t(3, 300)) for _ in range(20)]
    fit = next(fit for fit in fits if fit.kind == "heavy" and fit.can_be_either)
    words = in_words([fit], ["x"], fitting([fit], Scenario()), [1.0])
    assert "The interval allows a light tail too" in words and " or more)" in words
    assert "light" not in in_words([tail(pareto(3))], ["x"], Scenario(d=1), [1.0])


def test_the_margin_is_smaller_where_the_numbers_need_that() -> None:
    # These values are the quantiles of a Pareto law with tail index 2.3.
    fit = tail((np.arange(1, 100_001) / 100_000.5) ** (-1 / 2.3))
    assert 2.1 < fit.index < 2.5
    matching = fitting([fit], Scenario())
    assert matching.p == 2 and matching.p + matching.margin <= fit.index
    assert "No bound here" not in in_words([fit], ["x"], matching, [1.0])


def test_numbers_without_a_variance_have_a_scenario_below_two() -> None:
    fit = tail(pareto(1.7))
    matching = fitting([fit], Scenario())
    assert 1 < matching.p < 2 and matching.p + matching.margin <= fit.index
    assert "No bound here" not in in_words([fit], ["x"], matching, [1.0])


def test_the_page_says_that_no_bound_covers_data_without_a_mean() -> None:
    fit = tail(pareto(1.1))
    matching = fitting([fit], Scenario())
    words = in_words([fit], ["x"], matching, [1.0])
    assert matching.p == 1.1 and "No bound here covers them: their mean may not exist" in words
    # A problem that needs a variance keeps p at 2.
    logistic = fitting([fit], Scenario(problem="logistic", methods=()))
    assert logistic.p == 2


def test_gaussian_numbers_are_not_called_a_student_law_and_few_numbers_say_little() -> None:
    light = tail(np.random.default_rng(1).standard_normal(20_000))
    matching = fitting([light], Scenario())
    text = in_words([light], ["x"], matching, [1.0])
    assert "light tail" in text and "Student" not in text and matching.distribution == "gaussian"
    unclear = tail(np.random.default_rng(3).standard_normal(150))
    assert unclear.kind == "unclear" and fitting([unclear], Scenario()).p == 2
    assert "too few to tell" in in_words([unclear], ["x"], fitting([unclear], Scenario()), [1.0])


def test_the_plot_draws_the_index_over_the_threshold() -> None:
    fit = tail(pareto(3))
    figure = tail_figure([fit], ["x"])
    line, chosen = figure.data
    low, high = figure.layout.yaxis.range
    (note,) = figure.layout.annotations
    assert low <= note.y == np.log10(20) <= high < 2 and low <= np.log10(min(line.y))
    assert list(line.x) == list(fit.farthest) and max(line.y) <= 20
    assert list(chosen.x) == [fit.tail_count] and list(chosen.y) == [fit.index]


def test_the_button_opens_a_dialog_that_warns_that_looking_at_the_data_is_not_private() -> None:
    page = open_page()
    (button,) = [b for b in page.button if b.key == "own_numbers"]
    page = button.click().run()
    assert not page.exception
    assert any("not private" in m.value for m in page.markdown)
    assert "not private" in ABOUT and "nothing is stored or sent" in " ".join(ABOUT.split())


def test_the_methods_run_on_the_records_themselves_and_say_where_to_clip_and_why() -> None:
    values = 1000 + pareto(3)
    page = with_file(as_csv(values))
    text = words_of(page)
    assert re.search(
        r"\*\*Clip at R = [\d.]+\*\*, which keeps [\d,.]+ to [\d,.]+, because at p", text
    )
    assert "noise of standard deviation" in text and "a bias of at most" in text
    assert "the answers are not private" in text and RELEASED not in page.session_state
    (button,) = [b for b in page.button if b.key == "own_numbers_release"]
    page = check_page(button.click().run())
    (table,) = [frame.value for frame in page.dataframe]
    assert table["Method"].iloc[0] == "Sample mean" and len(table) >= 3
    for released in table["Released"]:
        assert float(released.replace(",", "")) == pytest.approx(values.mean(), abs=1)
    assert set(table["Spends"]) == {"not private", "(1, 10⁻⁶)-DP"}
    assert "their budgets add up" in words_of(page)
    first_values = page.session_state[RELEASED][1][1].values
    (button,) = [b for b in page.button if b.key == "own_numbers_release"]
    rerun = check_page(button.click().run())
    # No seed is kept, so the released values differ.
    assert rerun.session_state[RELEASED][1][1].values != first_values
    (guess,) = [n for n in rerun.number_input if n.label == "A guess of the mean"]
    assert guess.value == pytest.approx(np.median(values), abs=0.5)
    with_guess = check_page(guess.set_value(990.0).run())
    # The released mean was for other public values, so it is hidden.
    assert not with_guess.dataframe


@pytest.mark.parametrize(("middle", "spread"), [(1e6, 1.0), (1.7e12, 1000.0), (1e-7, 1e-13)])
def test_numbers_are_written_down_to_their_noise(middle: float, spread: float) -> None:
    values = middle + spread * np.random.default_rng(0).standard_normal(5000)
    page = with_file(as_csv(values))
    (guess,) = [n for n in page.number_input if n.label == "A guess of the mean"]
    written = guess.proto.format % guess.value
    assert float(written) == pytest.approx(middle, abs=2 * spread)
    low, high = re.findall(r"which keeps (\S+) to (\S+), because", words_of(page))[0]
    assert low != high
    (button,) = [b for b in page.button if b.key == "own_numbers_release"]
    (table,) = [frame.value for frame in check_page(button.click().run()).dataframe]
    assert table["Released"].nunique() > 1 and len(table) >= 3
    assert table["Off their average by"].iloc[0] == "0"
    if middle > 1:
        sample = float(table["Released"].iloc[0].replace(",", ""))
        assert sample == pytest.approx(values.mean(), abs=spread / 1000)


@pytest.mark.parametrize("value", [1e30, 1e-30, 0.0])
def test_the_refusal_of_a_public_value_names_its_field(value: float) -> None:
    page = with_file(as_csv(pareto(3)))
    for label in ("The mean is at most this far off", "Unit"):
        (field,) = [n for n in page.number_input if n.label == label]
        usual = field.value
        text = words_of(check_page(field.set_value(value).run()))
        assert f'"{label}"' in text and "diameter must" not in text and "within" not in text
        (field,) = [n for n in page.number_input if n.label == label]
        page = check_page(field.set_value(usual).run())
        assert not page.error


def test_the_page_mentions_a_cap_if_the_largest_numbers_are_equal() -> None:
    values = pareto(3, 1000)
    capped = np.minimum(values, np.sort(values)[-12])
    largest = f"{capped.max():.15g}"
    assert f"12 numbers are equal to the largest, {largest}: a cap" in words_of(
        with_file(as_csv(capped))
    )
    assert "equal to the" not in words_of(with_file(as_csv(np.round(values, 2))))


def two_columns(n: int = 4800) -> list[str]:
    """Return n rows of a heavy-tailed column and of a light-tailed one on another scale; 16 rows
    lack a number.
    """
    heavy, light = pareto(2.5, n), 1e6 + 1e4 * np.random.default_rng(1).standard_normal(n)
    rows = [f"{a},{b}" for a, b in zip(heavy.tolist(), light.tolist(), strict=True)]
    rows[10:25] = [f"n/a,{b}" for b in light[10:25].tolist()]
    rows[30] = f"{heavy[30]},"
    return ["pay,size_1", *rows]


def with_two_columns(*names: str) -> AppTest:
    """Return the dialog after a file with two columns was uploaded and some were chosen."""
    page = with_file("\n".join(two_columns()).encode())
    (field,) = page.multiselect
    assert field.value == ["pay"] and not page.dataframe
    return check_page(field.set_value(list(names)).run())


def test_several_columns_are_records_of_that_dimension() -> None:
    page = with_two_columns("size_1", "pay")
    text = words_of(page)
    assert GOLDEN["columns and rows of a file"] in text
    (table,) = [frame.value for frame in page.dataframe]
    assert table["Column"].tolist() == ["size_1", "pay"]
    assert table["Tail"].tolist() == ["light", "heavy"]
    assert table["Rows left out for it"].tolist() == [1, 15]
    values = np.array([r.split(",") for r in two_columns()[1:] if "n/a" not in r and r[-1] != ","])
    values = values.astype(float)
    for mean, expected_mean in zip(table["Mean"], values.mean(axis=0)[::-1], strict=True):
        assert float(mean.replace(",", "")) == pytest.approx(expected_mean, rel=1e-4)
    index = r"\*\*tail index of about 2\.\d\*\* \(95 % interval [\d.]+ to [\d.]+\)"
    assert re.search(rf"4,784 rows with a {index}, that of \*pay\*", text)
    assert "d = 2, n = 5,000" in text and "One unit of error here is about" in text
    assert len(page.number_input) == 6
    assert [field.label for field in page.number_input][:3] == [
        r"A guess of the mean of size\_1",
        r"The mean of size\_1 is at most this far off",
        r"Unit of size\_1",
    ]


def test_several_columns_are_released_together_in_units_that_the_visitor_gives() -> None:
    page = with_two_columns("pay", "size_1")
    for label, value in (("A guess of the mean of pay", 2.0), (r"Unit of size\_1", 2e4)):
        (field,) = [n for n in page.number_input if n.label == label]
        page = check_page(field.set_value(value).run())
    text = words_of(page)
    assert re.search(r"\*\*Clip at R = [\d.]+ units\*\*, which is how far from the guesses", text)
    assert re.search(
        r"units in every column \([\d.]+ for \*pay\* and [\d.,]+ for \*size\\_1\*\)", text
    )
    assert "centred at its guess and divided by its unit" in text and "d = 2 dimensions" in text
    (button,) = [b for b in page.button if b.key == "own_numbers_release"]
    page = check_page(button.click().run())
    (_, table) = [frame.value for frame in page.dataframe]
    assert len(table) >= 3 and table["Off their average by"].iloc[0] == "0 units"
    for name, mean, tolerance in (("pay", 1.67, 0.5), ("size_1", 1e6, 5e3)):
        for released in table[f"Released: {name}"]:
            assert float(released.replace(",", "")) == pytest.approx(mean, abs=tolerance)
    assert all(re.match(r"not private|\((1|0\.9\d+), 10⁻⁶\)-DP", one) for one in table["Spends"])
    (field,) = page.multiselect
    page = check_page(field.set_value(["size_1", "pay"]).run())
    assert len(page.dataframe) == 1  # The released mean was of other records, so it is hidden.


def test_a_column_that_cannot_be_analysed_is_named_and_none_may_be_chosen() -> None:
    rows = [f"{row},1" for row in two_columns()]
    page = with_file("\n".join(["pay,size,few", *rows[1:]]).encode())
    (field,) = page.multiselect
    page = check_page(field.set_value(["size", "pay", "few"]).run())
    assert "column few: numbers must be at least 100 different ones" in words_of(page)
    (field,) = page.multiselect
    page = check_page(field.set_value([]).run())
    # The two kept readings are those of the default columns and of the last choice.
    assert len(page.session_state[READ]) == 2
    assert [info.value for info in page.info] == ["Choose a column."] and not page.error


def test_the_refusal_of_a_columns_public_value_names_the_column() -> None:
    page = with_two_columns("pay", "size_1")
    (field,) = [n for n in page.number_input if n.label == r"Unit of size\_1"]
    assert r'"Unit of size\_1" must be' in words_of(check_page(field.set_value(0.0).run()))


def test_columns_with_light_tails_or_too_few_rows_are_reported() -> None:
    rng = np.random.default_rng(1)
    light = [tail(rng.standard_normal(20_000)) for _ in range(2)]
    matching = fitting(light, Scenario())
    assert (matching.d, matching.distribution) == (2, "gaussian")
    assert "**light tails** in every column" in in_words(light, ["a", "b"], matching, [1.0, 2.0])
    unclear = [tail(np.random.default_rng(3).standard_normal(150)), tail(pareto(3, 150))]
    matching = fitting(unclear, Scenario())
    text = in_words(unclear, ["a", "b"], matching, [1.0, 2.0])
    assert matching.p == 2 and "that of *b*" in text
    assert "too few rows to tell for *a*, and p = 2" in text
    both_unclear = in_words(
        unclear[:1] * 2, ["a", "b"], fitting(unclear[:1] * 2, Scenario()), [1.0, 2.0]
    )
    assert "too few to tell for *a* and *b*" in both_unclear


def test_the_plot_draws_a_line_for_every_column() -> None:
    fits = [tail(pareto(3)), tail(pareto(2))]
    *lines, chosen = tail_figure(fits, ["a", "b"]).data
    assert [line.name for line in lines] == ["a", "b"]
    assert list(chosen.y) == [fit.index for fit in fits]


def test_the_error_for_a_large_file_states_its_size_and_the_limit() -> None:
    """A file of 1,048,000 bytes was once refused with "1.0 MB must be 1.0MB or smaller"."""
    page = with_file(b"1.5\n" * 2_262_000)
    assert words_of(page).endswith(
        f"file must be at most {LARGEST_BYTES:,} bytes (8 MB), got file = 9,048,000 bytes."
    )
    fits = with_file(as_csv(pareto(3, 95_000)))
    assert "tail index of about" in words_of(fits)


def test_a_file_without_numbers_gives_an_error_and_no_results() -> None:
    page = with_file(b"a,b\n1,2\n")
    assert "numbers must be at least 100 in one column" in words_of(page)
    assert RELEASED not in page.session_state

"""The private mean of the visitor's own numbers: public values, clip radius, releases."""

import math
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from dpsco_app.pages.explore.tables import spent_text
from dpsco_app.parts.options import budget_text, escaped_markdown, in_print, number_text, short_text
from dpsco_app.parts.refusals import on_screen
from dpsco_core.base.errors import InvalidInput, NotApplicable
from dpsco_core.base.limits import DASHBOARD
from dpsco_core.catalogue import method_card
from dpsco_core.explain.columns.digits import decimals_of, to_digits
from dpsco_core.explain.columns.own_records import (
    ClipAdvice,
    OwnRelease,
    Public,
    clip_advice,
    fresh_releases,
    mean_radius,
    point_of,
    suggested_public,
)
from dpsco_core.explain.columns.records import NumberRecords, names_in_words
from dpsco_core.explain.tails import Tail
from dpsco_core.runs.allowed import refusal
from dpsco_core.scenario import Scenario

RELEASED = "own_numbers_released"  # The session key of the released values and of their inputs.
ABOUT_PUBLIC = (
    "A private method may rely on what is known without a look at the numbers. The values below "
    "are filled in from your numbers, and so are p and the law: **with values chosen in that way "
    "the answers are not private**. Replace them by what you know beforehand. How many "
    "records there are counts as public."
)
ABOUT_RELEASES = (
    "Every private row spends a budget of its own: if you use several rows, or press the button "
    "again, their budgets add up. The noise is fresh, from the operating system, and no seed is "
    "kept. It is drawn in double precision and not hardened: do not publish statistics of real "
    "people with it. The sample mean, the last column and the count of numbers beyond R look at "
    "the numbers themselves and are not private."
)
ABOUT_SCALES = (
    "Every column is centred at its guess and divided by its unit, so that columns of very "
    "different scales count alike. A record is then a point in d = {d} dimensions, and a distance "
    "is an ℓ₂ norm in these units: together, the means are within {radius} units of the guesses. "
    "To keep the scales as they are, give every column the largest unit. Nothing is assumed of "
    "how the columns depend on each other."
)

# For each field of `Public`: its label, its label for one of several columns, and its help text.
PUBLIC = {
    "guess": (
        "A guess of the mean",
        "A guess of the mean of {name}",
        "Records are clipped around it.",
    ),
    "within": (
        "The mean is at most this far off",
        "The mean of {name} is at most this far off",
        "The true mean is within this distance of the guess.",
    ),
    "unit": (
        "Unit",
        "Unit of {name}",
        "The p-th root of a bound on the moment E|X − EX|^p of a number X.",
    ),
}


def draw_releases(
    records: NumberRecords,
    fits: Sequence[Tail],
    file: str,
    matching: Scenario,
    units: Sequence[float],
) -> None:
    """Draw the public values, the clip radius with its reason, and the methods' releases."""
    names = records.chosen
    st.markdown("**Their private mean**")
    st.markdown(ABOUT_PUBLIC)
    columns = zip(names, fits, units, strict=True)
    publics = [
        _draw_public(fit, unit, "" if records.is_single else name, f"{file}_{name}")
        for name, fit, unit in columns
    ]
    if not records.is_single:
        radius = short_text(mean_radius(publics))
        st.markdown(ABOUT_SCALES.format(d=len(names), radius=radius))
    try:
        point = point_of(matching, publics)
    except InvalidInput as problem:
        raise InvalidInput(with_labels(str(problem))) from None
    too_large = refusal(point, DASHBOARD)
    if too_large:
        st.error(in_print(too_large))
        return
    # A mean is rounded to its own error, or to the noise if that is smaller.
    blurs = [public.unit / math.sqrt(point.n) for public in publics]
    try:
        advice = clip_advice(records.values, publics, point)
        noises = noises_of(advice, publics)
        blurs = list(map(min, blurs, noises))
        st.markdown(clip_in_words(advice, point, names, noises))
    except NotApplicable as problem:
        st.markdown(in_print(str(problem)))
    request = (file, publics, point)
    if st.button("Release the mean of these numbers", key="own_numbers_release"):
        st.session_state[RELEASED] = request, fresh_releases(records.values, publics, point)
    released_request, releases = st.session_state.get(RELEASED, (None, ()))
    if released_request == request:
        means = [fit.mean for fit in fits]
        st.dataframe(release_table(releases, names, means, publics, blurs), hide_index=True)
        st.caption(ABOUT_RELEASES)


def _draw_public(fit: Tail, unit: float, name: str, key: str) -> Public:
    """Draw the fields for the public values of a column, named if there are several."""
    filled = vars(suggested_public(fit, unit))
    try:
        return Public(
            **{
                field: place.number_input(
                    label_of(field, escaped_markdown(name)),
                    value=filled[field],
                    format=field_format(filled[field], unit),
                    key=f"own_numbers_{field}_{key}",
                    help=help_text,
                )
                for place, (field, (*_, help_text)) in zip(
                    st.columns(3), PUBLIC.items(), strict=True
                )
            }
        )
    except InvalidInput as problem:
        raise InvalidInput(with_labels(str(problem), name)) from None


def label_of(field: str, name: str = "") -> str:
    """Return the label of a field of `Public`, with the name of its column if there are several."""
    label, label_with_name, _ = PUBLIC[field]
    return label_with_name.format(name=name) if name else label


def noises_of(advice: ClipAdvice, publics: Sequence[Public]) -> list[float]:
    """Return the standard deviation of each column's noise, in the column's own unit."""
    if len(publics) == 1:
        return [advice.noise]
    return [advice.noise * public.unit for public in publics]


def clip_in_words(
    advice: ClipAdvice, point: Scenario, names: Sequence[str], noises: Sequence[float]
) -> str:
    """Return sentences on the radius at which simple clipping clips, and on the reason for it."""
    records_word = "numbers" if len(names) == 1 else "rows"
    share = (
        f"{advice.clipped:,} of the {point.n:,} {records_word}"
        if advice.clipped
        else "None of them"
    )
    verb = "lies" if advice.clipped <= 1 else "lie"
    noise, bias = short_text(advice.noise, 2), short_text(advice.bias, 2)
    if len(names) == 1:
        low, high = (digits_text(x, advice.radius / 10) for x in (advice.low[0], advice.high[0]))
        radius, keeps = short_text(advice.radius), f"keeps {low} to {high}"
        noise_units, dimension = "", ""
    else:
        radius = f"{short_text(advice.radius)} units"
        keeps = "is how far from the guesses a record counts in full"
        spreads = in_units(noises, names, 2)
        noise_units, dimension = f" units in every column ({spreads})", f"d = {point.d}, "
        bias += " units"
    return (
        f"**Clip at R = {radius}**, which {keeps}, because at p = {number_text(point.p)}, "
        f"{dimension}n = {point.n:,} and "
        f"{budget_text(point.budget)} this balances two costs of simple clipping: noise of "
        f"standard deviation {noise}{noise_units}, which grows with R, and a bias of at "
        f"most {bias}, which falls. {share} {verb} beyond."
    )


def in_units(values: Sequence[float], names: Sequence[str], digits: int = 3) -> str:
    """Return a number for every column in a sentence, each in the unit of that column.

    Examples
    --------
    >>> in_units([0.1234, 1e9], ["pay", "size"])
    '0.123 for *pay* and 10⁹ for *size*'
    """
    pairs = zip(values, names, strict=True)
    return names_in_words(
        [f"{short_text(v, digits)} for *{escaped_markdown(n)}*" for v, n in pairs]
    )


def digits_text(value: float, blur: float) -> str:
    """Return a number with the digits that its uncertainty leaves.

    Examples
    --------
    >>> digits_text(1_000_000.0123, 0.014), digits_text(1.23456e-9, 1e-12)
    ('1,000,000.0123', '1.23456·10⁻⁹')
    """
    front, _, exponent = to_digits(value, blur).partition("e")
    return f"{front}·{number_text(float('1e' + exponent))}" if exponent else front


def field_format(value: float, unit: float) -> str:
    """Return the printf format of a number's field, with decimals that suit the column's unit.

    Very long or extreme numbers have an exponent.
    """
    is_long = abs(value) >= 1e12 * unit or not 1e-9 < unit < 1e15
    return "%.15g" if is_long else f"%.{max(0, decimals_of(unit / 10))}f"


def with_labels(sentence: str, name: str = "") -> str:
    """Return an error about public values with the labels of the fields in place of their names.

    Examples
    --------
    >>> with_labels("unit must be a finite number above 0, got unit=0.0.")
    '"Unit" must be a finite number above 0, got 0.0.'
    """
    for field in PUBLIC:
        label = label_of(field, name)
        sentence = re.sub(rf"\bgot {field}=", "got ", sentence)
        if sentence.startswith(f"{field} "):
            sentence = f'"{label}"{sentence.removeprefix(field)}'
        sentence = sentence.replace(f" at {field}=", f' where "{label}" is ')
    return sentence


def release_table(
    releases: Sequence[OwnRelease],
    names: Sequence[str],
    means: Sequence[float],
    publics: Sequence[Public],
    blurs: Sequence[float],
) -> pd.DataFrame:
    """Return the table of releases, one row per method, with the reason where there is none.

    `blurs` has the uncertainty of each column's mean, in the unit of the numbers.
    """
    is_single = len(names) == 1
    scales = [1.0] if is_single else [public.unit for public in publics]
    suffix = "" if is_single else " units"

    def distance_from_mean(values: Sequence[float]) -> float:
        """Return the scaled distance of values from the means; rounding error counts as 0."""
        deviations = [
            value - mean if abs(value - mean) > max(1e-6 * blur, 4 * math.ulp(mean)) else 0.0
            for value, mean, blur in zip(values, means, blurs, strict=True)
        ]
        return math.hypot(*np.divide(deviations, scales))

    def row(release: OwnRelease) -> dict[str, str]:
        """Return the row of a release: its values, or the reason why there are none."""
        if release.refusal:
            written = [on_screen(release.refusal), *[""] * (len(names) - 1)]
        else:
            pairs = zip(release.values, blurs, strict=True)
            written = [digits_text(value, blur) for value, blur in pairs]
        heads = ["Released"] if is_single else [f"Released: {name}" for name in names]
        return {
            "Method": method_card(release.method).name,
            **dict(zip(heads, written, strict=True)),
            "Spends": "" if release.refusal else spent_text(release.method, release.spent),
            "Clipped beyond": ""
            if math.isnan(release.clip)
            else f"± {short_text(release.clip)}{suffix}",
            "Off their average by": ""
            if release.refusal
            else f"{short_text(distance_from_mean(release.values), 2)}{suffix}",
        }

    return pd.DataFrame([row(release) for release in releases])

"""The steps of the story and the picture beside each; every number is computed."""

import math
from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

from dpsco_app.front import links
from dpsco_app.front.view import ADDRESS, View
from dpsco_app.parts.options import at_most, number_text, short_text
from dpsco_app.parts.touch.scroll import PictureState, ScrollStep, ScrollStory
from dpsco_core.explain.why import (
    DELTA,
    EPSILON,
    LIGHT,
    MANY_N,
    SCENARIO,
    SIZES,
    WORST_D,
    Why,
)
from dpsco_core.scenario import Scenario

TITLE = "Heavy tails: why privacy stays expensive in the worst case"
INTRODUCTION = (
    "Five minutes, no background needed. Scroll, or use the numbers: the picture "
    "follows the text, and you can drag the circle, the record and the sliders in it."
)
NEXT_TITLE = "Where to go next"
# The scenario of the first link: data that are the hardest at every n.
HARDEST = replace(
    SCENARIO,
    distribution="hypercube",
    n=20_000,
    d=WORST_D,
    axis="n",
    grid=(200, 500, 1000, 2000, 5000, 10_000, 20_000),
    trials=10,
)
TO_CURVES = (
    (
        f"Steps 8 and 9 in Explore: on the hardest data with p = {SCENARIO.p:g}, the price of "
        "privacy stays at every n",
        HARDEST,
        View(measure="price"),
    ),
    (
        f"Step 8 in Explore: with p = {LIGHT:g} the price falls with n",
        replace(HARDEST, p=LIGHT),
        View(measure="price"),
    ),
)
TO_PICTURE = "The whole picture, where a radius is chosen privately"
# Half the width of the plane of records in the three views, from the closest to the widest.
NEAREST_VIEW, NEAR_VIEW, MIDDLE_VIEW = 2.0, 3.0, 9.0
CLOSER = 1.5  # The factor by which the averages are magnified once the noise is small.
DISTANCE = 1000  # The distance of the visitor's record from the centre at the start.
MOVED_RECORD = (-0.8 * DISTANCE, -0.6 * DISTANCE)
AVERAGES = ("records", "means")
AVERAGES_AND_FAR = (*AVERAGES, "far")
CLOUD = (*AVERAGES, "cloud", "again", "radius")
PRICES = (*CLOUD, "prices")


def curves_query(scenario: Scenario, view: View) -> str:
    """Return the query of the address at which Explore shows a scenario."""
    return urlencode(links.query(scenario) | ADDRESS.to_query(view), safe=",")


def _explore_links() -> tuple[tuple[str, str], ...]:
    """Return the links of the last step, to measured curves at the same n, d and budget."""
    return tuple(
        (f"Explore at p = {scenario.p:g}: measured on the hardest data", curves_query(scenario, v))
        for _, scenario, v in TO_CURVES
    )


def story(numbers: Why) -> ScrollStory:
    """Return the story: its steps with their numbers, and the prices at both tails."""
    sides = numbers.heavy, numbers.light
    lines = [{"p": one.p, "prices": one.guarantees, "floors": one.floors} for one in sides]
    return ScrollStory(
        scenarios=(SCENARIO, replace(SCENARIO, p=LIGHT)),
        steps=steps(numbers),
        prices={"sizes": SIZES, "lines": lines},
    )


def setting() -> str:
    """Return the sentence on the records and the budget of the pictures."""
    return (
        f"The picture: {SCENARIO.n} records from a skewed Pareto law in the plane, p "
        f"= {number_text(SCENARIO.p)} (in step 8 p = {number_text(LIGHT)}), "
        f"ε = {number_text(EPSILON)}, δ = {number_text(DELTA)}, seed {SCENARIO.seed}. The records "
        "are drawn, so the picture itself is not private."
    )


def steps(numbers: Why) -> tuple[ScrollStep, ...]:
    """Return the steps of the story, each with its text and its picture."""
    heavy, light, small, large = numbers.heavy, numbers.light, numbers.small, numbers.large
    best, shift = heavy.best, DISTANCE / SCENARIO.n
    plain_state = partial(PictureState, view=NEAR_VIEW)
    clipped = partial(plain_state, radius=best.radius)
    closer = partial(clipped, zoom=CLOSER)
    return (
        ScrollStep(
            title="A few records are enormous",
            text=(
                "Each dot is a record: two numbers about one person, say an income and a debt. "
                f"Half of the {SCENARIO.n} records lie within {short(heavy.middle)} of the centre "
                f"of the picture. The farthest is {short(heavy.farthest)} away. (Records outside "
                "the picture are drawn at its edge.)",
                "This is a <b>heavy tail</b>: large values become rare only slowly. Each "
                "coordinate has a variance of at most 1; nothing is known about higher moments. We "
                f"say that the <b>tail index</b> is p = {short(heavy.p)}.",
            ),
            state=plain_state(parts=("records", "far")),
        ),
        ScrollStep(
            title="Without privacy, the average copes",
            text=(
                f"Add the records up, divide by {SCENARIO.n}, and you are "
                f"{short(heavy.average_error)} "
                "away from the true mean. The far record pulls, but its pull is divided by "
                f"{SCENARIO.n}. Other samples are luckier or less lucky: typically the error is "
                f"{short(heavy.plain)} (the root mean square). This is the <b>sampling</b> error.",
                "If nothing had to stay secret, we could stop here.",
            ),
            state=plain_state(parts=AVERAGES_AND_FAR, main="means"),
        ),
        ScrollStep(
            title="But one record can move it without limit",
            text=(
                "Suppose that one record is yours, and that nobody may learn it from the average. "
                f"Here it lies {number_text(DISTANCE)} away, and the picture shows so much of the "
                "plane that all the others are one spot. It moves the average by about "
                f"{short(shift)}, {short(shift / heavy.plain)} times the sampling error. Drag it.",
                "Random noise can hide such a move, but only if the noise is larger still. A "
                "record of a heavy tail can lie anywhere, so no amount of noise is always enough.",
            ),
            state=plain_state(
                moved=MOVED_RECORD, parts=(*AVERAGES_AND_FAR, "change", "distance"), main="records"
            ),
        ),
        ScrollStep(
            title="So clip",
            text=(
                "Fix a circle around 0 in advance, and pull every record outside onto it. This is "
                "<b>clipping</b>, and the circle’s radius R is the <b>clip radius</b>. However far "
                "away your record lies, it now moves the average by at most 2R/n, which is "
                f"{short(2 * best.radius / SCENARIO.n)} for R = {short(best.radius)}.",
                f"The price: {best.clipped} records are no longer where they were, and this moves "
                f"the average by {short(best.shift)}. Over all samples, clipping keeps it "
                f"{short(best.bias)} away from the true mean. This is the <b>clipping bias</b>.",
            ),
            state=clipped(
                moved=(-2.4, -1.8), parts=(*AVERAGES_AND_FAR, "change", "radius", "distance")
            ),
        ),
        ScrollStep(
            title="The radius: bias against noise",
            text=(
                "Now add random noise that hides a move of 2R/n, and publish the result. The large "
                "dot is what was released; each faint one could have been released instead.",
                f"A large circle needs much noise: at R = {short(large.radius)} a release is "
                f"typically {short(large.noise)} from the average of the clipped records. A small "
                f"one distorts: at R = {short(small.radius)} it clips {small.clipped} of the "
                f"{SCENARIO.n} records, and the bias is {short(small.bias)}. Move the radius from "
                "one to the other. The squares of sampling, bias and noise<span class='wide'>, "
                "which the stack shows,</span> add up to the square of the typical error. (Clipped "
                "records scatter less, so that a small circle makes the sampling error smaller, "
                "too.)",
            ),
            state=plain_state(
                radius=large.radius, view=MIDDLE_VIEW, parts=(*CLOUD, "bars", "far"), main="means"
            ),
        ),
        ScrollStep(
            title="What ε means: odds",
            text=(
                "The pink cloud shows what could be released if your record lay at its worst "
                "place. The two clouds almost coincide. A spy who knows all the other records, "
                "and finds both of your possible records equally likely, guesses right "
                f"{math.floor(100 * numbers.seen_guess)} % of the time, and wherever the two lie "
                f"at most {at_most(numbers.guess)}. Tossing a coin gives 50 %.",
                "This is what the <b>privacy budget</b> limits. With "
                f"ε = {number_text(EPSILON)}, changing one record makes no outcome more than "
                f"e<sup>ε</sup> = {short(math.exp(EPSILON))} times as likely, up to a slack "
                f"of δ = {number_text(DELTA)}.",
            ),
            state=closer(moved="worst", parts=(*CLOUD, "far", "change"), main="means"),
        ),
        ScrollStep(
            title="Even the best radius is expensive",
            text=(
                "The figure stacks the three squares at every radius: on the left mostly bias, on "
                f"the right mostly noise. It is lowest at R = {short(best.radius)}, where the "
                f"typical error is {short(best.error)}. Without privacy it was "
                f"{short(heavy.plain)}: the <b>price of privacy</b> is a factor of "
                f"{short(heavy.price)}, on this law with {SCENARIO.n} records of {SCENARIO.d} "
                f"numbers, at ε = {number_text(EPSILON)}.",
                "A heavy tail has no good place to cut: records that matter lie outside every "
                "circle. Nor may we simply read the best radius off the data: looking costs a part "
                "of the privacy budget.",
            ),
            state=closer(parts=(*CLOUD, "bars", "curve", "best"), main="curve"),
        ),
        ScrollStep(
            title="With a light tail, more records make privacy cheap",
            text=(
                "So far the records came from one law. Now take the <b>worst case</b>, over all "
                f"data with tail index p and d = {WORST_D} numbers per record. Without privacy, "
                "the typical error is then at most √(d/n). The figure shows the best proven "
                f"guarantee with privacy (ε = {number_text(EPSILON)}), relative to that. At "
                f"p = {short(light.p)} it falls from {light.guarantees[0]:.1f} with "
                f"{SCENARIO.n} records to {light.guarantees[-1]:.2f} with {number_text(MANY_N)}. "
                f"At p = {short(heavy.p)} it falls only from {heavy.guarantees[0]:.1f} to "
                f"{heavy.guarantees[-1]:.1f}: <b>privacy stays expensive</b>.",
                "Why? The proven bound on what privacy adds to the error of simple clipping falls "
                f"like n<sup>−(1−1/p)</sup>. At p = {short(light.p)}, {light.halving:.1f} times "
                "the records halve it, and the sampling error takes 4 times: beside that, "
                f"privacy’s part vanishes. At p = {short(heavy.p)}, halving either part takes "
                f"{short(heavy.halving)} times the records, so privacy’s share never shrinks. "
                "(A guarantee holds for all data at once. Any one law is milder: for that of the "
                f"earlier steps, with {SCENARIO.d} numbers per record, more records bring the "
                f"price down from {heavy.price:.1f} to {heavy.later:.1f}. Explore measures the "
                "price on the law, the n, d and ε that you choose.)",
            ),
            state=PictureState(
                sample=1,
                radius=light.best.radius,
                view=NEAREST_VIEW,
                zoom=CLOSER,
                parts=PRICES,
                main="prices",
            ),
            leads=_explore_links(),
        ),
        ScrollStep(
            title="What nobody can beat",
            text=(
                f"Could another method do better at p = {short(heavy.p)}? Only up to a point, the "
                "red line. For every (ε, δ)-private method and every n in the figure there are "
                f"data with {WORST_D} numbers per record on which, at ε = "
                f"{number_text(EPSILON)}, its mean error is at least "
                f"{short(min(heavy.floors))} times √(d/n). More records do not lower the line. At "
                f"p = {short(light.p)}, the guarantee passes below it.",
                "Clipping is not to blame: privacy must hide every record, and in a heavy tail the "
                "records that are hardest to hide carry a part of the mean.",
            ),
            state=closer(floor=True, parts=PRICES, main="prices"),
            leads=_explore_links()[:1],
        ),
    )


short = partial(short_text, digits=2)

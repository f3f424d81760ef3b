"""An answer of `need` in plain words, the same on the page and on the command line."""

import math

from dpsco_core.catalogue import bound, method_card
from dpsco_core.explain.need.search import Need


def in_words(found: Need, *, users: bool = False) -> tuple[str, ...]:
    """Return the answer and, where a lower bound has one, its answer: a sentence each.

    Parameters
    ----------
    users : bool
        Whether n counts users.
    """
    return (answer(found, users), *floor(found, users))


def answer(found: Need, users: bool = False) -> str:
    """Return what the method takes, or why there is no answer."""
    name, what = method_card(found.method).name, f"a median error of {found.target:.3g}"
    if found.side == "plateau":
        near = f"Near {amount(found, found.near, users)}"
        if found.unknown == "n":
            return (
                f"{near} the error of {name} hardly falls as {_whom(users)} are added: more of "
                f"them alone will not bring it to {found.target:.3g}."
            )
        return (
            f"{near} the error of {name} hardly depends on the privacy budget: a larger one will "
            f"not bring it to {found.target:.3g}, and it takes more {_whom(users)}."
        )
    if found.side == "above":
        return f"{name} needs more than {amount(found, found.limit, users)} for {what}."
    if found.side == "below":
        return f"{name} needs at most {amount(found, found.limit, users)} for {what}."
    interval = f"{_number(found.low)} to {_number(found.high)}"
    needed = amount(found, found.value, users)
    return f"{name} needs about {needed} for {what} (95 % interval: {interval})."


def floor(found: Need, users: bool = False) -> tuple[str, ...]:
    """Return what the lower bound says, if there is one: it binds mean errors in the worst case."""
    if found.floor is None:
        return ()
    worst = f"In the worst case over the class ({bound(found.floor_bound).card.name})"
    promise = f"can guarantee a mean error of {found.target:.3g}"
    if math.isinf(found.floor):
        ever = f"any number of {_whom(users)}" if found.unknown == "n" else "any privacy budget"
        return (f"{worst}, no algorithm {promise} with {ever} up to the largest allowed.",)
    less = "fewer than" if found.unknown == "n" else "a budget below"
    return (f"{worst}, no algorithm {promise} with {less} {amount(found, found.floor, users)}.",)


def amount(found: Need, value: float, users: bool = False) -> str:
    """Return so many records, or such a budget."""
    if found.unknown == "n":
        return f"{_number(value)} {_whom(users)}"
    return f"{found.unknown} = {_number(value)}"


def _whom(users: bool) -> str:
    return "users" if users else "records"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 or value == int(value) else f"{value:.3g}"

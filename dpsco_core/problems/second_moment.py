"""The sentence that a method or a bound shows at p < 2 if it needs a second moment."""

from dpsco_core.base.cards import Card


def second_moment_missing(subject: str, card: Card, moment_order: float) -> str:
    """Return the reason why a subject fails at a tail index; empty if it holds.

    Its card gives the reason where it holds below 2: `Card.infinite_variance`.
    """
    if moment_order >= 2 or card.infinite_variance:
        return ""
    return (
        f"The {subject} needs a second moment, and records with tail index p={moment_order:g} "
        "may have none."
    )

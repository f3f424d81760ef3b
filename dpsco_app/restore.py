"""A page's state comes back: from its address, or, after a visit elsewhere, as it was left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from dpsco_app.controls import Panel
from dpsco_app.link import Address, Found
from dpsco_core.scenario import Scenario


@dataclass(frozen=True, kw_only=True)
class Left:
    """What a page was like when it was last shown."""

    scenario: Scenario
    extras: dict[str, str]


def restored(address: Address, panel: Panel) -> Found | None:
    """Return what is to be put into the controls; None if they hold it already.

    While another page is shown the state of the widgets is lost. An address that says something is
    read again then; an empty one brings the page back as it was left.
    """
    here = panel.loaded()
    left: Left | None = st.session_state.get(_key(address))
    if not here and left is not None and not address.present():
        return Found(scenario=left.scenario, extras=left.extras, problems=[])
    return address.read(again=not here)


def remember(address: Address, scenario: Scenario, extras: Mapping[str, str]) -> None:
    """Write the state of the page into its address, and keep it for its next visit."""
    address.write(scenario, extras)
    leave(address, scenario, extras)


def leave(address: Address, scenario: Scenario, extras: Mapping[str, str]) -> None:
    """Keep the state of the page for its next visit, whatever its address says."""
    st.session_state[_key(address)] = Left(scenario=scenario, extras=dict(extras))


def _key(address: Address) -> str:
    return f"{address.name}_left"

"""The forms of a figure's methods, as printed or calibrated, in few words."""

import textwrap
from collections.abc import Sequence

from dpsco_app.figure.methods import short_names
from dpsco_core.catalogue import method_class
from dpsco_core.methods.form import Form, common_form, form_of
from dpsco_core.scenario import Scenario

LINE = 60  # The largest number of letters in a line of a hover text.


def forms(scenario: Scenario, methods: Sequence[str]) -> dict[str, Form]:
    """Return the form of each method that has one, by method: as printed, or how it differs."""
    method_forms = {
        m: form_of(method_class(m), scenario.calibration, scenario.tuning) for m in methods
    }
    return {method: form for method, form in method_forms.items() if form is not None}


def form_caption(scenario: Scenario, methods: Sequence[str]) -> str:
    """Return sentences on the forms of a figure's methods: what most share, and who differs."""
    method_forms = forms(scenario, methods)
    if not method_forms:
        return ""
    names = short_names(scenario.methods)
    tags = [f"{names[method]}: {form.tag}" for method, form in method_forms.items() if form.tag]
    common = common_form(scenario.calibration, scenario.tuning)
    return " ".join([common, *([f"{'; '.join(tags)}."] if tags else [])])


def form_note(scenario: Scenario, method: str) -> str:
    """Return the sentence on a method's form if that differs from the common one, else nothing."""
    form = forms(scenario, [method]).get(method)
    return form.text if form is not None and form.tag else ""


def form_lines(scenario: Scenario, method: str) -> list[str]:
    """Return the note on a method's form, wrapped into lines."""
    return textwrap.wrap(form_note(scenario, method), LINE)

"""The teacher mode: what an address hides, how large the type is, and that both persist."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from dpsco_app.front.address import Address
from dpsco_app.front.links import BASE
from dpsco_app.parts.fields import ALL_CONTROLS, GROUPS
from dpsco_app.parts.page import HIDDEN_NAMES
from dpsco_app.shell.teaching import ADDRESS, PARTS, SCALE, Teaching, hidden_names, parts_on, style
from dpsco_core.scenario import Scenario
from tests.app.pages import check_page, open_page
from tests.app.places.test_one_run import open_at
from tests.golden_sentences import GOLDEN


def sheets(page: AppTest) -> str:
    """Return the style sheets of a page."""
    return "\n".join(element.proto.body for element in page.get("html"))


def hides_sidebar(page: AppTest) -> bool:
    """Return whether the style sheets of a page hide the sidebar."""
    return style(Teaching(hide="sidebar")) in sheets(page)


@pytest.mark.parametrize(
    ("query", "hide", "large"),
    [
        ({}, (), False),
        ({"hide": "sidebar, data"}, ("sidebar", "data"), False),
        ({"type": "large"}, (), True),
        ({"hide": "privacy,study", "type": "normal"}, ("privacy", "study"), False),
    ],
)
def test_the_teacher_mode_is_read_from_the_address(
    query: dict[str, str], hide: tuple[str, ...], large: bool
) -> None:
    teaching, wrong = ADDRESS.from_query(query)
    assert (tuple(hidden_names(teaching.hide)), teaching.large, wrong) == (hide, large, [])


def test_a_missing_parameter_keeps_the_session_value_and_none_shows_everything() -> None:
    page = open_page(hide="data", type="large")
    for name in ("hide", "type"):
        del page.query_params[name]
    page = check_page(page.run())
    assert ".st-key-field_p " in sheets(page) and "html { font-size" in sheets(page)
    page.query_params["hide"], page.query_params["type"] = "none", "normal"
    page = check_page(page.run())
    assert ".st-key-field_p " not in sheets(page) and "html { font-size" not in sheets(page)
    assert not {"hide", "type"} & {*page.query_params}


def test_an_unknown_name_gives_one_error_and_hides_nothing() -> None:
    teaching, wrong = ADDRESS.from_query({"hide": "sidebar,zebra,<b>", "type": "huge"})
    assert teaching == Teaching()
    assert len(wrong) == 2
    assert wrong[0].startswith("hide must be one of sidebar, nav") and "zebra" in wrong[0]
    assert wrong[1] == GOLDEN["an unknown size of type"]


def test_every_name_hides_something_and_every_control_has_a_name() -> None:
    selectors = {name: style(Teaching(hide=name)) for name in PARTS}
    assert all("display: none" in text for text in selectors.values())
    assert ".st-key-field_p " in selectors["data"] and "field_epsilon" not in selectors["data"]
    assert (
        ".st-key-field_epsilon " in selectors["privacy"]
        and ".st-key-notion " in (selectors["privacy"])
    )
    for field in set(ALL_CONTROLS) - set(list(GROUPS.values())[-1]):
        assert sum(f".st-key-field_{field} " in text for text in selectors.values()) == 1


def test_a_link_offers_what_its_page_has() -> None:
    lesson = open_at("learn", lesson="clipping")
    assert offered(lesson, "learn") == ["nav", "details", "export"]
    parts = parts_on(["data"], None)  # Hidden parts can be shown again.
    assert parts == ["nav", "details", "export", "data"]
    assert offered(open_page(), "explore") == list(PARTS)
    users = offered(open_at("users", n="500", d="3", trials="2", part="frontier"), "users")
    assert "presets" not in users and "algorithms" not in users and "size" in users


def offered(page: AppTest, name: str) -> list[str]:
    """Return the parts that the teacher mode of a page offers to hide, by their names in the
    address.
    """
    pills = page.button_group(key=f"{name}_link_hide")
    labels = {HIDDEN_NAMES.get(part, f"controls: {part}"): part for part in PARTS}
    return [labels[option.content] for option in pills.proto.options]


@pytest.mark.parametrize("slug", ["learn", "explore", "methods", "one-run"])
def test_hiding_the_links_to_other_pages_hides_all_of_them(slug: str) -> None:
    page = open_at(slug, hide="nav")
    links = [link.proto.page for link in page.get("page_link")]
    assert links == []


def test_the_style_sheet_hides_parts_and_enlarges_type() -> None:
    text = style(Teaching(hide="nav", type="large"))
    assert "st-key-views" in text and f"{16 * SCALE:.1f}px" in text
    assert "font-size" not in style(Teaching(hide="nav"))


def test_hiding_the_controls_keeps_their_values() -> None:
    page = open_page(hide="data,privacy,presets", type="large", p="4", delta="1e-05")
    assert ".st-key-field_p " in sheets(page) and "html { font-size" in sheets(page)
    assert chosen_without(page).p == 4 and chosen_without(page).delta == 1e-5
    page = check_page(page.run())
    assert ".st-key-field_p " in sheets(page)
    assert dict(page.query_params)["hide"] in ("data,privacy,presets", ["data,privacy,presets"])


def chosen_without(page: AppTest) -> Scenario:
    """Return the scenario of the address, without the parameters of the teacher mode."""
    for name in ("hide", "type"):
        assert name in page.query_params
    address = dict(page.query_params)
    query = {k: v[0] if isinstance(v, list) else v for k, v in address.items()}
    fields = set(Scenario().to_dict())
    return Scenario.from_query({k: v for k, v in query.items() if k in fields}, BASE)


def test_the_teacher_mode_lasts_for_the_session_without_an_address() -> None:
    page = open_page(hide="sidebar")
    del page.query_params["hide"]  # A change of the page drops the parameter in the same way.
    page.run()
    assert hides_sidebar(page) and "hide" in page.query_params


def test_the_page_reports_an_unknown_name() -> None:
    page = open_page(hide="zebra", type="large")
    (warning,) = [w.value for w in page.warning if "hide must" in w.value]
    assert "zebra" in warning and "hide" not in page.query_params
    page.run()
    # The message stays until something else is opened.
    assert any("zebra" in w.value for w in page.warning)


def test_the_link_of_any_page_can_hide_parts_and_enlarge_the_type() -> None:
    page = open_page(p="4", trials="2", grid="500")
    page.button_group(key="explore_link_hide").set_value(["sidebar", "privacy"])
    page.toggle(key="explore_link_large").set_value(True)
    page = check_page(page.run())
    (address,) = [c.value for c in page.code if "?" in c.value]
    query = {name: value for name, (value,) in parse_qs(urlsplit(address).query).items()}
    assert query.items() >= {"p": "4", "hide": "sidebar,privacy", "type": "large"}.items()
    teaching, wrong = ADDRESS.from_query({k: v for k, v in query.items() if k in ("hide", "type")})
    assert (teaching, wrong) == (Teaching(hide="sidebar,privacy", type="large"), [])
    assert not hides_sidebar(page)


def test_an_address_is_read_once_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of a page ask for the result and not for the address, so one reading is enough."""
    read: list[dict[str, str]] = []
    from_query = type(ADDRESS).from_query

    def listen(address: Address[Teaching], query: dict[str, str]) -> tuple[Teaching, list[str]]:
        """Record a query, and read it as the original does."""
        read.append(query)
        return from_query(address, query)

    page = open_page(hide="sidebar", type="large")
    monkeypatch.setattr(Address, "from_query", listen)
    page = check_page(page.run())
    assert [query for query in read if "hide" in query] == [{"hide": "sidebar", "type": "large"}]


def test_the_address_can_request_a_figure_alone_which_states_its_source() -> None:
    assert ADDRESS.from_query({"extent": "figure"}) == (Teaching(extent="figure"), [])
    _, wrong = ADDRESS.from_query({"extent": "<b>"})
    assert len(wrong) == 1 and wrong[0].startswith("extent must be one of page, figure")
    page = open_page(extent="figure", p="4", trials="2", grid="500")
    assert style(Teaching(extent="figure")) in sheets(page)
    (source,) = re.findall(r"<p class='source'>(.*?)</p>", sheets(page))
    assert "p = 4" in source.replace("\N{NO-BREAK SPACE}", " ") and source.endswith("Explorer")
    # The extent holds for the session until the address names another.
    page.query_params["extent"] = "page"
    page = check_page(page.run())
    assert "class='source'" not in sheets(page) and "extent" not in page.query_params
    page.toggle(key="explore_link_alone").set_value(True)
    (address,) = [c.value for c in check_page(page.run()).code if "?" in c.value]
    assert parse_qs(urlsplit(address).query)["extent"] == ["figure"]

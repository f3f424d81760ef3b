"""The least that a Streamlit page with a slider and a figure takes: what the dashboard is above."""

import plotly.graph_objects as go
import streamlit as st

st.set_page_config(layout="wide")


def show_first_page() -> None:
    """Draw a page whose slider changes a figure, to time its opening and a move of the slider."""
    st.title("One")
    value = st.sidebar.select_slider("Tail index p", [2, 3, 4, 5, 6])
    with st.container(key="figure_wide"):
        figure = go.Figure(go.Scatter(x=[1, 2, 3], y=[1, value, 2]))
        st.plotly_chart(figure.update_layout(title=f"p = {value}"), key=f"figure_{value}")
    st.text("Finished:")


def show_second_page() -> None:
    """Draw a page with nothing but a heading, to time a change of page."""
    st.title("Two")


st.navigation(
    [
        st.Page(show_first_page, title="Explore", default=True),
        st.Page(show_second_page, title="Learn", url_path="learn"),
    ],
    position="top",
).run()

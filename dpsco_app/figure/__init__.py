"""Figures as plain values, and the one renderer that makes Plotly's form of them.

Nothing here needs Streamlit, Plotly or pandas: the dashboard and the page without a server draw
with the same functions.
"""

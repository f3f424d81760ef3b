"""A visit as one object: its settings, its finished runs, and its screen.

Nothing here imports Streamlit, Plotly or pandas: the dashboard and the page without a server host
it.
"""

"""A visit as one object: what is set, what has run, and what is to be drawn.

No Streamlit, no Plotly and no pandas: the dashboard and the page without a server are its hosts.
"""

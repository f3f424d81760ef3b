"""The front page as plain values, for the dashboard and for the page without a server.

No Streamlit, no Plotly and no pandas.
"""

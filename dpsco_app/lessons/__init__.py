"""The lessons without Streamlit: their questions, their measurements, their verdicts.

`measure` takes results from its host, which runs them. Nothing here imports pandas, so that the
page without a server can have the lessons.
"""

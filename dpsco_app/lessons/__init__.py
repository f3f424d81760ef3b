"""The lessons without Streamlit: their questions, their measurements, their verdicts.

`measure` takes the results from whoever has run them. There is no pandas in here, so that a page
without a server can have the lessons.
"""

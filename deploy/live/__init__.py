"""The builder of the page without a server: `make site` runs it; the dashboard needs it not."""

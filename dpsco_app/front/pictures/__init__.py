"""The small pictures above the figure: of the data, and of how a record is hidden."""

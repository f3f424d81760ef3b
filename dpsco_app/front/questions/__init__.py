"""The questions below the single figure, and what answers them: tails, sliders, records."""

"""Words of the page without a server that the dashboard does not have."""

from dpsco_app.shell.names import EXPLORE, LEARN

# The views of the page; the story is a page of its own.
CURVES, PICTURE, LESSONS = EXPLORE, "private-mean", LEARN
TITLE = "DP-SCO Explorer"
STARTING = {
    "prepared": "Prepared figure. The engine is starting: {step}.",
    "only": "This browser cannot run the engine ({why}). The presets and the lessons show "
    "prepared figures; to run them, or other settings, takes WebAssembly and enough memory.",
    "waiting": "The engine is starting, then your settings are run: {step}.",
    "restarted": "The engine had stopped, and is starting again: {step}.",
}
STEPS = {
    "engine": "loading Python",
    "packages": "loading numpy and scipy",
    "library": "loading the algorithms",
    "figure": "first numbers",
}
LIVE = "Live: measured in {runs} runs, in this browser"
PICTURE_LIVE = "Live: your n, ε and p, in this browser"
LESSON_PREDICT = "Predict, then run: it is measured in this browser"
LESSON_LIVE = "Live: measured in this browser"
RUNNING = "{done} of {all} runs"
LIMITS = "this page"
SCRIPT_OFF = "This page needs JavaScript to draw its figure."
ALL_BOUNDS = "Every bound at the chosen point"

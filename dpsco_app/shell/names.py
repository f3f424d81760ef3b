"""What the places of the dashboard and their views are called."""

EXPLORE = "explore"
LEARN = "learn"
WHY = "why"
# In the order of the navigation: slug (the path in the address) -> title.
MENU = {
    LEARN: "Learn",
    EXPLORE: "Explore",
    "bounds": "Bounds",
    "lower-bounds": "Lower bounds",
    "methods": "Methods",
    "privacy": "Privacy",
    "geometry": "Geometry & users",
}
# A place of several views: its own slug comes first, the others are reached from there.
VIEWS = (
    {
        EXPLORE: "Curves",
        "private-mean": "A private mean",
        "one-run": "One run",
        "who-wins": "Who wins",
    },
    {LEARN: "Lessons", WHY: "A story in five minutes"},
    {"methods": "Which one when", "errata": "Errata"},
    {"geometry": "Sets and noise", "users": "Users"},
    {"bounds": "The papers' tables", "check": "Check a claim"},
)
PLACES = MENU | {slug: name for views in VIEWS for slug, name in views.items()} | MENU

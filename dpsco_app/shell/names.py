"""The names of the dashboard's pages and of their views."""

EXPLORE = "explore"
LEARN = "learn"
WHY = "why"
# The pages in the order of the menu, from slug (the path in the address) to title.
MENU = {
    LEARN: "Learn",
    EXPLORE: "Explore",
    "bounds": "Bounds",
    "lower-bounds": "Lower bounds",
    "methods": "Methods",
    "privacy": "Privacy",
    "geometry": "Geometry & users",
}
# Pages with several views: the page's own slug, then the slugs of its other views.
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

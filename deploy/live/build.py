"""`python -m deploy.live`: the page without a server, as a folder that any host serves."""

import argparse
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from html import escape
from pathlib import Path

from deploy.live.compiled import compiled, node
from deploy.live.engine import EngineMissing, engine_files
from deploy.live.library import PACKAGES, ROOT, engine
from dpsco_app.figure.colours import ACCENT, FAINT, INK, PAGE, QUIET, Pair
from dpsco_app.figure.plotly_script import plotly_licence, plotly_script
from dpsco_app.figure.style import words_style
from dpsco_app.figure.theme import FONT, NARROW, SIZES, WIDTHS, Theme
from dpsco_app.front.picture import UNUSED_FIELDS
from dpsco_app.front.pictures.meaning import SPELLED_OUT
from dpsco_app.front.questions.records import RECORDS_STYLE
from dpsco_app.lessons.report import REPORT_STYLE
from dpsco_app.lessons.view import STEPS
from dpsco_app.parts.options import AGAINST, MEASURE
from dpsco_app.parts.presets import FIRST, PRESETS
from dpsco_app.parts.touch import modules, scroll
from dpsco_app.shell.names import WHY
from dpsco_app.static_page import words
from dpsco_app.static_page.controls import presets
from dpsco_app.static_page.lessons import SIDE_WIDTH, Lessons, lesson_theme
from dpsco_app.static_page.page import OF_LESSONS
from dpsco_app.static_page.story import VIEWS, story_data, story_parts, views
from dpsco_app.static_page.visit import Visit, screen_json
from dpsco_app.static_page.words import CURVES, LESSONS, PICTURE

WEB = Path(__file__).parent / "web"
ALL = tuple(preset.slug for preset in PRESETS)
TOUCH_MODULES = ("choices", "picture", "prediction", "scroll")  # the scripts of what can be dragged
THEMES = {"light": False, "dark": True}
KINDS = ("compact", "medium", "wide")
COLOURS: dict[str, Pair] = {
    **{"ink": INK, "quiet": QUIET, "faint": FAINT, "page": PAGE, "accent": ACCENT},
    **{"side": ("#f6f7f3", "#211f1c"), "line": ("#dfe1dc", "#3a3a37")},
}


def prepared(slug: str) -> dict[str, str]:
    """Return the screens of a preset, by the name of their file, from numbers of this machine."""
    visit = Visit()
    visit.start(slug)
    while visit.step(60.0):
        pass
    screens = {}
    for name, dark in THEMES.items():
        for kind in KINDS:
            theme = Theme(dark=dark, size=SIZES[kind])
            screens[f"{slug}.{kind}.{name}.json"] = screen_json(visit, theme)
        screens[f"{slug}.{PICTURE}.{name}.json"] = screen_json(visit, Theme(dark=dark), PICTURE)
    return screens


def prepared_lesson(step: str) -> dict[str, str]:
    """Return the screens of a step of the lessons before its run, by the name of their file."""
    lessons = Lessons()
    lessons.go(step)
    while lessons.step(60.0):
        pass
    screens = {}
    for name, dark in THEMES.items():
        for kind, width in (("compact", SIDE_WIDTH), ("wide", SIDE_WIDTH + 1)):
            screen = lessons.screen(lesson_theme(width, dark=dark))
            file = f"{step}.{LESSONS}-{kind}.{name}.json"
            screens[file] = json.dumps(screen, ensure_ascii=False, allow_nan=False)
    return screens


def page(slugs: Sequence[str] = ALL, prepared_steps: Sequence[str] = STEPS) -> str:
    """Return the page itself: its words and colours are those of the dashboard."""
    data = {
        "words": words.STARTING | {"steps": words.STEPS},
        "default": FIRST.slug,
        "addresses": {slug: _address(slug) for slug in slugs},
        "views": {f"#{a.partition('#')[2]}": slug for slug, a in VIEWS.items() if "#" in a},
        "widths": WIDTHS,
        "lessons": {
            "view": LESSONS,
            "steps": STEPS,
            "prepared": prepared_steps,
            "fields": OF_LESSONS,
            "width": SIDE_WIDTH,
        },
        "packages": PACKAGES,
    }
    parts = {
        "picture": _shadow_template(modules.text("picture.html"), "picture.css"),
        "handle": _shadow_template(modules.text("prediction.html"), "prediction.css"),
    }
    return _filled(
        "index.html",
        data,
        views=views(CURVES),
        presets=presets(),
        spelled=escape(SPELLED_OUT),
        **parts,
    )


def story() -> str:
    """Return the page of the story."""
    parts = story_parts() | {"scroll": _shadow_template(scroll.markup(), *scroll.STYLES)}
    return _filled("story.html", story_data(), views=views(WHY), **parts)


def _filled(name: str, data: object, **parts: str) -> str:
    """Return a page with its parts, which are HTML, and its data."""
    parts |= {
        "title": escape(words.TITLE),
        "style": "\n".join(_style()),
        "off": escape(words.SCRIPT_OFF),
        "data": json.dumps(data, ensure_ascii=False).replace("</", "<\\/"),
    }
    text = (WEB / name).read_text(encoding="utf-8")
    for part, value in parts.items():
        text = text.replace(f"{{{{ {part} }}}}", value)
    return text


def _shadow_template(markup: str, *styles: str) -> str:
    """Return the markup of a component, with a style of its own as Streamlit gives it."""
    style = "".join(map(modules.text, styles))
    return f"<template shadowrootmode='open'><style>{style}</style>{markup}</template>"


def _address(slug: str) -> str:
    visit = Visit()
    visit.start(slug)
    return visit.address


def _style() -> Iterator[str]:
    for dark in (False, True):
        variables = "".join(f"--{name}: {pair[dark]}; " for name, pair in COLOURS.items())
        sheet = f":root {{ {variables}}}\n{words_style(dark=dark)}"
        yield f"@media (prefers-color-scheme: dark) {{\n{sheet}\n}}" if dark else sheet
    sheet = (WEB / "style.css").read_text(encoding="utf-8")
    yield sheet.replace("FONT", FONT).replace("NARROW", f"{NARROW}px")
    yield REPORT_STYLE
    yield RECORDS_STYLE
    hidden = ", ".join(f"[data-field={name}]" for name in (*UNUSED_FIELDS, AGAINST, MEASURE))
    control = ":is(.slider, .choice, fieldset)"
    yield f"body[data-view={PICTURE}] #controls {control}:has({hidden}) {{ display: none; }}"


def font() -> bytes:
    """Return the dashboard's font, Source Sans (SIL Open Font License), as Streamlit brings it."""
    from dpsco_app.parts.insides import STATIC

    media = STATIC / "static" / "media"
    return next(media.glob("SourceSansVF-Upright*.woff2")).read_bytes()


def build(
    out: Path,
    store: Path,
    workers: int = 2,
    slugs: Sequence[str] = ALL,
    steps: Sequence[str] = STEPS,
) -> dict[str, int]:
    """Write the folder, with prepared figures of these presets and steps of the lessons.

    Returns the bytes of its parts.
    """
    files = engine_files(store, ROOT / "here")
    new = out.with_name(f"{out.name}.new")
    shutil.rmtree(new, ignore_errors=True)
    runner = node()
    to_bytes = partial(compiled, runner=runner) if runner else None
    parts: dict[str, dict[str, bytes]] = {"engine": engine(files, to_bytes)}
    with ProcessPoolExecutor(workers) as pool:
        screens = (*pool.map(prepared, slugs), *pool.map(prepared_lesson, steps))
        parts["prepared"] = {n: s.encode() for one in screens for n, s in one.items()}
    parts["touch"] = {f"{name}.js": modules.script(f"{name}.js").encode() for name in TOUCH_MODULES}
    parts[""] = {"index.html": page(slugs, steps).encode(), "story.html": story().encode()}
    parts[""]["plotly.js"] = plotly_script().encode()
    parts[""]["plotly.LICENSE.txt"] = plotly_licence().encode()
    parts[""]["font.woff2"] = font()
    parts[""] |= {f.name: f.read_bytes() for f in WEB.glob("*.js")}
    parts[""]["icon.png"] = (ROOT / "assets" / "icon.png").read_bytes()
    for folder, contents in parts.items():
        (new / folder).mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (new / folder / name).write_bytes(content)
    shutil.rmtree(out, ignore_errors=True)
    new.rename(out)
    return {
        folder or "page": sum(map(len, contents.values())) for folder, contents in parts.items()
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m deploy.live", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("build/site"))
    parser.add_argument("--kept", type=Path, default=Path("build/pyodide"), metavar="FOLDER")
    chosen = parser.parse_args(arguments)
    try:
        sizes = build(chosen.out, chosen.kept)
    except EngineMissing as problem:
        print(f"dpsco: {problem}", file=sys.stderr)
        return 2
    listing = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items())
    print(f"{chosen.out}: {listing}. Look at it: python -m http.server -d {chosen.out}")
    return 0

"""The style sheets of a page's head, and of the table of a figure's names and numbers."""

from functools import cache

from dpsco_app.figure.colours import ACCENT, FADED, IMPOSSIBLE, INK, PAGE, QUIET

COLOUR_NAMES = {"ink": INK, "quiet": QUIET, "page": PAGE, "accent": ACCENT}


@cache
def named_colours(*, dark: bool) -> str:
    """Return the CSS variables for the colours that other style sheets use."""
    return "".join(f"--{name}: {pair[dark]}; " for name, pair in COLOUR_NAMES.items())


def words_style(*, dark: bool) -> str:
    """Return the CSS for the head of a page; the head of a single figure has a fixed height."""
    quiet = QUIET[dark]
    return f"""
.head {{ padding-top: 0.4rem; }}
.head h1 {{ font-size: 1.0625rem; line-height: 1.5rem; font-weight: 400; color: {quiet};
  padding: 0; margin: 0; }}
.head h2 {{ font-size: 1.6875rem; line-height: 2.0625rem; font-weight: 700;
  padding: 0; margin: 0.1rem 0 0.4rem; letter-spacing: -0.006em; text-wrap: balance; }}
.head.single h2 {{ font-size: 1.5rem; line-height: 1.95rem; min-height: 3.9rem; }}
.head .waiting {{ font-weight: 400; color: {quiet}; }}
.head .meaning {{ display: flex; flex-wrap: wrap; align-items: center; column-gap: 2.2rem;
  min-height: 110px; margin: 0 0 -0.5rem; }}
.head .meaning span {{ display: inline-flex; align-items: center; gap: 0.5rem; }}
.head .meaning .data > :last-child {{ max-width: 8.5rem; line-height: 1.2rem; }}
.head .meaning .steps {{ flex: 1 1 0; gap: 0.9rem; }}
.head .meaning .does {{ display: block; }}
.head .meaning .name {{ flex-direction: column; align-items: flex-start; gap: 0.1rem; }}
.head .meaning .term b {{ font-size: 1.2rem; line-height: 1.3rem; }}
.head .meaning .sign {{ font-size: 1.35rem; }}
.head .meaning .cause {{ display: block; max-width: 17rem; line-height: 1.2rem; }}
.head .meaning .data + .steps {{ flex-wrap: wrap; row-gap: 0; }}
.head .meaning .data + .steps .cause {{ flex-basis: 100%; max-width: none; }}
.head .meaning .term {{ position: relative; }}
.head .meaning:has(.records) .term {{ flex-shrink: 0; }}
.head .meaning .records {{ position: absolute; left: 0; top: 100%; }}
.head .meaning:has(.records) {{ align-items: flex-start; }}
.head p {{ font-size: 0.9375rem; line-height: 1.375rem; min-height: 1.375rem; color: {quiet};
  margin: 0; }}
.head p b {{ font-weight: 600; }}
.ladder {{ width: 100%; border-collapse: collapse; font-size: 0.875rem; }}
.ladder.before, .head.before :is(h2, p) {{ opacity: {FADED}; }}
.ladder caption {{ text-align: left; font-size: 0; height: 0; }}
.ladder th, .ladder td {{ padding: 0.35rem 0; border-bottom: 1px solid rgba(128, 128, 128, 0.25); }}
.ladder thead th {{ font-weight: 400; font-size: 0.8125rem; color: {quiet}; }}
.ladder th {{ text-align: left; font-weight: inherit; }}
.ladder td, .ladder thead * + th {{ text-align: right; font-variant-numeric: tabular-nums; }}
.ladder i {{ display: inline-block; width: 1.4rem; height: 0; border-top: 3px solid currentColor;
  margin-right: 0.6rem; vertical-align: 0.25rem; }}
.ladder i.line {{ height: 1rem; border: 0; font: normal 0.8rem/1rem sans-serif; text-align: center;
  background: linear-gradient(currentColor, currentColor) center / 100% 3px no-repeat;
  vertical-align: -0.15rem; }}
.ladder i.line::before {{ content: attr(data-sign); }}
.ladder td, .ladder thead th {{ white-space: nowrap; padding-left: 0.75rem; }}
.ladder tfoot td {{ text-align: left; white-space: normal; font-size: 0.75rem; padding-left: 0;
  color: {quiet}; }}
.ladder small {{ display: block; margin-left: 2rem; font-size: 0.75rem; font-weight: 400; }}
.ladder i.area {{ height: 0.7rem; border: solid; border-width: 1px 0;
  background: color-mix(in srgb, currentColor 20%, transparent); vertical-align: -0.1rem; }}
.ladder i.edge {{ height: 0.7rem; border-top: 2px solid {IMPOSSIBLE.edge[dark]};
  background: {IMPOSSIBLE.fill[dark]}; vertical-align: -0.1rem; }}
.ladder i.none {{ display: none; }}
.heard {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; display: block; }}  /* a table would be as wide as its longest line */
@media (max-height: 799px) {{
  .head.single {{ padding-top: 0; }}
  .head.single h2 {{ margin: 0 0 0.1rem; }}
  .head .meaning {{ min-height: 100px; }}
  .head .meaning:has(.records) img:not(.records) {{ height: 80px; width: auto; }}
}}
@media (max-width: 1340px) {{
  .head .meaning:has(.data) {{ column-gap: 0.8rem; }}
  .head .meaning .data + .steps {{ gap: 0.4rem; }}
  .head .meaning .data + .steps img {{ height: 58px; width: auto; }}
}}
@media (max-width: 760px) {{
  .head h1 {{ font-size: 0.9375rem !important; }}
  .head h2 {{ font-size: 1.4375rem; line-height: 1.75rem; }}
  .head h2 br {{ display: none; }}
  .head.single h2 {{ font-size: 1.3rem; line-height: 1.7rem; min-height: 6.8rem; }}
  .head .meaning {{ font-size: 0.8125rem; row-gap: 0.3rem; }}
  .head .meaning .data {{ width: 100%; }}
  .head .meaning .data > :last-child {{ max-width: none; flex: 1; line-height: 1.15rem; }}
  .head .meaning img:not(.strip, .records) {{ height: 3.4rem; width: auto; }}
  .head .meaning .records {{ display: none; }}
  .head .meaning .steps {{ gap: 0.5rem; flex-wrap: wrap; }}
  .head .meaning .term {{ flex-direction: column; gap: 0.1rem; }}
  .head .meaning .name {{ flex-direction: row; gap: 0.3rem; white-space: nowrap; }}
  .head .meaning .term b {{ font-size: 1rem; }}
}}
"""

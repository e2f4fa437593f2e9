"""Every HTML page that is written has this frame: one file that uses no script and no network, with
a light and a dark colour scheme, readable from a phone's width upwards.

Every name is escaped, because topics, paths and reasons come from outside. This module does no I/O.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from kafka_unclean_recovery.wording import one_line

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root{color-scheme:light dark;--page:#fff;--text:#1b1f24;--dim:#57606b;--line:#d4d9df;
--track:#eef1f4;--edge:#3f4750;--alarm:#b3261e;--fine:#1a6b3c}
@media(prefers-color-scheme:dark){:root{--page:#14181d;--text:#e6e9ed;--dim:#9aa5b1;--line:#333b45;
--track:#232a32;--edge:#c3cad2;--alarm:#ff8a80;--fine:#7fd1a0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:72rem;padding:1rem;background:var(--page);color:var(--text);
font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}h3{font-size:1rem;margin:0}
p{margin:.3rem 0}ul{margin:.5rem 0 0;padding-left:1.2rem}
.dim{color:var(--dim)}.alarm{color:var(--alarm)}.fine{color:var(--fine)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%}
th,td{border-bottom:1px solid var(--line);padding:.35rem .6rem;text-align:left;vertical-align:top}
th,td+td{overflow-wrap:break-word}td.n,th.n{text-align:right}
td.at{width:1%;white-space:nowrap;font-variant-numeric:tabular-nums}
pre{margin:.3rem 0;padding:.5rem .7rem;border:1px solid var(--line);border-radius:.3rem;
background:var(--track);white-space:pre-wrap;font-size:.85rem}
article{border:1px solid var(--line);border-radius:.5rem;padding:.8rem;margin:.8rem 0;
content-visibility:auto;contain-intrinsic-size:auto 22rem}
.many{content-visibility:auto;contain-intrinsic-size:auto 1200rem}
.box{border:2px solid var(--alarm);border-radius:.5rem;padding:.6rem .9rem;margin:1rem 0}
.rung{display:grid;grid-template-columns:11.5rem 1fr;gap:.1rem .8rem;margin-top:.6rem;
align-items:center}
.rung svg{width:100%;height:1.5rem;display:block;background:var(--track);border-radius:.2rem}
.rung .dim{grid-column:2;font-size:.85rem}
.rung rect{stroke:var(--edge);stroke-width:1}.rung text{font-size:12px;stroke-width:0}
.keys{display:flex;flex-wrap:wrap;gap:0 1rem}
.key{display:inline-block;width:.9rem;height:.9rem;border:1px solid var(--edge);
margin-right:.3rem;vertical-align:-.1rem}
.hw{stroke:var(--text);stroke-width:2;stroke-dasharray:3 2}
.cut{stroke:var(--alarm);stroke-width:3}
@media print{article,.many{content-visibility:visible}}
@media(max-width:40rem){.rung{grid-template-columns:1fr}.rung .dim{grid-column:1}
table.cards thead{display:none}table.cards tr{display:block;border-bottom:1px solid var(--line);
padding:.4rem 0}table.cards td{display:block;border:0;padding:.05rem 0;text-align:left}
table.cards td[data-name]:not(:empty)::before{content:attr(data-name) ": ";color:var(--dim)}}
"""

# The hatching marks lost records; it is drawn over the colour of their epoch.
_PATTERN = (
    '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>'
    '<pattern id="lost" width="8" height="8" patternUnits="userSpaceOnUse"'
    ' patternTransform="rotate(45)"><rect width="3" height="8" fill="#fff" fill-opacity=".75"/>'
    '<rect x="3" width="1" height="8" fill="#000" fill-opacity=".6"/></pattern></defs></svg>'
)


def html_page(title: str, body: Iterable[str]) -> str:
    """Return a whole page. title: plain text. body: pieces of HTML."""
    return "".join(
        [
            '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width,initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            f"<title>{html_text(title)}</title><style>{_STYLE}</style></head><body>",
            _PATTERN,
            *body,
            "</body></html>\n",
        ]
    )


def html_text(text: str) -> str:
    """Return the text on one line, escaped for the page and for attributes."""
    return escape(one_line(text))


def number_cell(name: str, text: str) -> str:
    """Return a number cell for a table of class "cards", which shows `name` in the cell when a
    narrow screen hides the header. text: HTML."""
    return f'<td class="n" data-name="{name}">{text}</td>'


def text_cell(name: str, text: str) -> str:
    """Return a text cell for a table of class "cards"; `text` is escaped."""
    return f'<td data-name="{name}">{html_text(text)}</td>'

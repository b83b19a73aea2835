"""The bar chart of compare.py as SVG, drawn by hand so that it needs no library.

One panel for each pipeline depth, one line for each test, two bars a line: throughput ratio and
processor-time ratio. The vertical rule at 1 is Redis. Colours come from a style sheet inside the
picture that follows the reader's light or dark scheme; the background stays transparent.
"""

from xml.sax.saxutils import escape

LINE_PX, BAR_PX = 20, 7
LABEL_PX, PANEL_PX, GAP_PX = 104, 190, 26
TOP_PX, BOTTOM_PX, MARGIN_PX = 78, 34, 16

STYLE = '''
  text { font: 11px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 15px; font-weight: 600; }
  .value { font-size: 9px; fill: #59636e; }
  .head { font-weight: 600; }
  .throughput { fill: #2f6fde; }
  .cpu { fill: #1a9a6c; }
  .one { stroke: #1f2328; stroke-width: 1; }
  .grid { stroke: #8c959f; stroke-opacity: .3; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .value { fill: #9198a1; }
    .throughput { fill: #6ea8ff; }
    .cpu { fill: #4cc38a; }
    .one { stroke: #e6edf3; }
  }
'''


def scale_end(rows: list) -> float:
    """The largest value of the axis: the largest ratio, rounded up to a half."""
    values = [v for r in rows for v in (r.ratio(), r.cpu_ratio()) if v]
    return max(1.5, (int(max(values, default=1) * 2) + 1) / 2)


def text(x: float, y: float, words: str, kind: str = '', anchor: str = 'start') -> str:
    kind = f' class="{kind}"' if kind else ''
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{escape(words)}</text>'


def rule(x: float, top: float, bottom: float, kind: str) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" class="{kind}"/>'


def panel(rows: list, left: float, bottom: float, end: float) -> list:
    """The bars of one depth; rows in the order of the lines."""
    unit = PANEL_PX / end
    out = [text(left, TOP_PX - 10, f'pipeline {rows[0].pipeline}', 'head')]
    half = 0.5
    while half <= end:
        if half != 1:
            out.append(rule(left + half * unit, TOP_PX, bottom, 'grid'))
        if half == int(half):
            out.append(text(left + half * unit, bottom + 14, f'{half:g}×', 'value', 'middle'))
        half += 0.5
    for i, row in enumerate(rows):
        top = TOP_PX + i * LINE_PX + (LINE_PX - 2 * BAR_PX - 1) / 2
        for j, (kind, value) in enumerate((('throughput', row.ratio()), ('cpu', row.cpu_ratio()))):
            if value is None:
                continue
            y = top + j * (BAR_PX + 1)
            out.append(f'<rect x="{left:.1f}" y="{y:.1f}" width="{value * unit:.1f}" '
                       f'height="{BAR_PX}" rx="1" class="{kind}"><title>{escape(row.title)} '
                       f'{kind} {value:.2f}</title></rect>')
            out.append(text(left + value * unit + 3, y + BAR_PX - 0.5, f'{value:.2f}', 'value'))
    out.append(rule(left + unit, TOP_PX - 4, bottom, 'one'))
    return out


def draw(rows: list, title: str) -> str:
    """The picture, from rows that have test, pipeline, title, ratio() and cpu_ratio()."""
    depths = list(dict.fromkeys(r.pipeline for r in rows))
    tests = list(dict.fromkeys(r.test for r in rows))
    bottom = TOP_PX + len(tests) * LINE_PX
    width = 2 * MARGIN_PX + LABEL_PX + len(depths) * (PANEL_PX + GAP_PX)
    height = bottom + BOTTOM_PX
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'width="{width}" height="{height}" role="img">',
           f'<title>{escape(title)}</title>', f'<style>{STYLE}</style>',
           text(MARGIN_PX, 24, title, 'title')]
    legend = (('throughput', 'requests per second, redae / Redis'),
              ('cpu', 'processor time per request, Redis / redae (longer: redae needs less)'))
    x = MARGIN_PX
    for kind, words in legend:
        out.append(f'<rect x="{x}" y="37" width="10" height="10" rx="1" class="{kind}"/>')
        out.append(text(x + 15, 46, words))
        x += 15 + len(words) * 6 + 14
    out += [text(MARGIN_PX, TOP_PX + i * LINE_PX + LINE_PX / 2 + 4, test.upper())
            for i, test in enumerate(tests)]
    end = scale_end(rows)
    for i, depth in enumerate(depths):
        left = MARGIN_PX + LABEL_PX + i * (PANEL_PX + GAP_PX)
        by_test = {r.test: r for r in rows if r.pipeline == depth}
        out += panel([by_test[t] for t in tests if t in by_test], left, bottom, end)
    return '\n'.join(out + ['</svg>', ''])

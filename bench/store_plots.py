"""Line charts as SVG, with the spread of each point."""

import html
import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 44, 92
COLOURS = ["#b03a2e", "#1f618d", "#239b56", "#9a7d0a", "#7d3c98", "#5d6d7e", "#d35400", "#117a65"]


def steps(top, wanted=5):
    """Round numbers from 0 to at least `top`."""
    raw = max(top, 1e-9) / wanted
    power = 10 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= raw)
    return [step * i for i in range(math.ceil(top / step) + 1)]


def number(value):
    if value >= 10_000:
        return f"{value / 1000:g}k"
    return f"{value:g}"


def text(x, y, words, size=12, anchor="middle", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {extra}>'
            f'{html.escape(words)}</text>')


def chart(title, x_label, y_label, lines):
    """`lines`: [(name, [(x, middle, low, high)])]; NFS is dashed."""
    points = [point for _, row in lines for point in row]
    x_max, x_min = max(p[0] for p in points), min(p[0] for p in points)
    marks = steps(max(p[3] for p in points))
    plot_width, plot_height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def at(x, y):
        return (LEFT + (x - x_min) / max(x_max - x_min, 1e-9) * plot_width,
                TOP + plot_height - y / marks[-1] * plot_height)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           text(WIDTH / 2, 24, title, 15, extra='font-weight="bold"')]
    for mark in marks:
        _, y = at(x_min, mark)
        out.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" '
                   'stroke="#dddddd"/>')
        out.append(text(LEFT - 8, y + 4, number(mark), 11, "end"))
    for x in sorted({p[0] for p in points}):
        out.append(text(at(x, 0)[0], TOP + plot_height + 18, number(x), 11))
    middle = TOP + plot_height / 2
    out.append(text(LEFT + plot_width / 2, TOP + plot_height + 38, x_label))
    out.append(text(18, middle, y_label, extra=f'transform="rotate(-90 18 {middle})"'))
    for index, (name, row) in enumerate(lines):
        colour = COLOURS[index % len(COLOURS)]
        dash = ' stroke-dasharray="6 4"' if name.startswith("NFS") else ""
        path = " ".join(f"{at(p[0], p[1])[0]:.1f},{at(p[0], p[1])[1]:.1f}" for p in row)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                   f'stroke-width="2"{dash}/>')
        for x, value, low, high in row:
            (px, py), (_, y_low), (_, y_high) = at(x, value), at(x, low), at(x, high)
            out.append(f'<line x1="{px:.1f}" y1="{y_low:.1f}" x2="{px:.1f}" y2="{y_high:.1f}" '
                       f'stroke="{colour}" stroke-opacity="0.45"/>')
            out.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>')
        column, line = index % 3, index // 3
        x, y = LEFT + column * plot_width / 3, HEIGHT - 34 + line * 18
        out.append(f'<line x1="{x:.1f}" y1="{y - 4}" x2="{x + 22:.1f}" y2="{y - 4}" '
                   f'stroke="{colour}" stroke-width="2"{dash}/>')
        out.append(text(x + 28, y, name, 12, "start"))
    return "\n".join([*out, "</svg>"]) + "\n"

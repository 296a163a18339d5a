"""Line charts as SVG, and the loss curve."""

import csv
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 360, 64, 44, 24, 52
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
Point = tuple[float, float]
Interval = tuple[float, float]


def write_curve(curve: Sequence[tuple[int, float, float]], path: Path) -> None:
    """Write the loss curve as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("tokens", "minutes", "loss_nats_per_token"))
        writer.writerows(curve)


def draw_curve(curve: Sequence[tuple[int, float, float]], path: Path, title: str) -> None:
    """Draw the loss over the tokens."""
    points = [(tokens / 1e6, loss) for tokens, _, loss in curve]
    chart = line_chart(title, {"": points}, "million tokens", "loss (nats a token)")
    path.write_text(chart, encoding="utf-8")


def line_chart(title: str, series: dict[str, Sequence[Point]], x_title: str, y_title: str) -> str:
    """Draw named lines over one pair of axes that begin at 0."""
    points = [point for line in series.values() for point in line] or [(1.0, 1.0)]
    across = (0.0, max(x for x, _ in points) or 1.0)
    up = (0.0, max(y for _, y in points) or 1.0)
    shapes = [_axes(across, up, x_title, y_title)]
    for index, (name, line) in enumerate(series.items()):
        shapes.append(_line(name, line, across, up, index))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="sans-serif" font-size="13" role="img" aria-label="{escape(title)}">\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n'
        f'<text x="{LEFT}" y="24" font-size="16" fill="#222222">{escape(title)}</text>\n'
        + "\n".join(shapes)
        + "\n</svg>\n"
    )


def _place(point: Point, across: Interval, up: Interval) -> Point:
    x = LEFT + (WIDTH - LEFT - RIGHT) * (point[0] - across[0]) / (across[1] - across[0])
    y = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (point[1] - up[0]) / (up[1] - up[0])
    return round(x, 1), round(y, 1)


def _axes(across: Interval, up: Interval, x_title: str, y_title: str) -> str:
    shapes = []
    for part in range(6):
        x, y = (part / 5 * interval[1] for interval in (across, up))
        right, bottom = _place((x, 0), across, up)
        left, height = _place((0, y), across, up)
        shapes += [
            f'<path d="M{left} {height}H{WIDTH - RIGHT}" stroke="#dddddd"/>',
            f'<text x="{left - 8}" y="{height + 4}" text-anchor="end">{y:.3g}</text>',
            f'<text x="{right}" y="{bottom + 18}" text-anchor="middle">{x:.3g}</text>',
        ]
    middle = HEIGHT / 2
    shapes += [
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_title)}</text>',
        f'<text x="16" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 16 {middle})">{escape(y_title)}</text>',
    ]
    return "\n".join(shapes)


def _line(name: str, line: Sequence[Point], across: Interval, up: Interval, index: int) -> str:
    color = COLORS[index % len(COLORS)]
    places = [_place(point, across, up) for point in line]
    track = " ".join(f"{x},{y}" for x, y in places)
    shapes = [f'<polyline points="{track}" fill="none" stroke="{color}" stroke-width="2"/>']
    if len(places) <= 40:
        shapes += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="{color}"/>' for x, y in places]
    if name:
        x, y = WIDTH - RIGHT - 150, TOP + 16 + 18 * index
        shapes.append(f'<path d="M{x} {y - 4}h18" stroke="{color}" stroke-width="3"/>')
        shapes.append(f'<text x="{x + 24}" y="{y}">{escape(name)}</text>')
    return "\n".join(shapes)

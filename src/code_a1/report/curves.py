"""The curves of a run drawn with matplotlib: as one picture in a file, or panel by panel as SVG for a page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from code_a1.errors import MissingExtra, RunDirError
from code_a1.report.panels import INK, PANELS, Panel, Rows, finish

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "svg.fonttype": "none",  # text stays text: small, searchable, in the reader's font
    "svg.hashsalt": "code-a1",  # the same picture of the same numbers
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}


def draw_curves(rows: Rows, path: Path, title: str) -> None:
    """Draw the main metrics of a run into `path` (the ending says how: .svg, .png, .pdf).

    Raises:
        MissingExtra: matplotlib is not installed.
        RunDirError: there is no step to draw, or the file cannot be written.
    """
    if not rows:
        raise RunDirError(f"{title}: no step has been finished yet, so there is nothing to draw")
    plt = _pyplot()
    panels = [panel for panel in PANELS if not panel.alone]
    with plt.rc_context({k: v for k, v in STYLE.items() if k != "svg.fonttype"}):
        figure, axes = plt.subplots(2, 3, figsize=(13, 7.4), layout="constrained")
        for panel, axis in zip(panels, axes.flat, strict=True):
            panel.draw(axis, rows)
            axis.set_title(panel.title, fontsize=10, loc="left")
            finish(axis)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11)
        try:
            figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
        except (OSError, ValueError) as error:
            raise RunDirError(f"cannot write the picture {path}: {error}") from error
        finally:
            plt.close(figure)


def draw_panels(rows: Rows) -> Iterator[tuple[str, str]]:
    """Yield title and SVG element of every panel that has something to show.

    Colours are those of `panels`; every marked point has a tooltip with its step and value. Raises MissingExtra if
    matplotlib is not installed.
    """
    plt = _pyplot()
    for panel in PANELS:
        # ids of marks and clips are hashes: salted, two panels of a page never share one
        with plt.rc_context(STYLE | {"svg.hashsalt": panel.title}):
            figure, axis = plt.subplots(figsize=(4.6, 3.2), layout="constrained")
            try:
                panel.draw(axis, rows)
                if axis.has_data():
                    finish(axis)
                    yield panel.title, _svg(figure, axis, panel)
            finally:
                plt.close(figure)


def _svg(figure: Any, axis: Axes, panel: Panel) -> str:
    """The figure as an SVG element that may stand beside others in a page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    for line in axis.get_lines():
        if gid := line.get_gid():
            text = _with_tooltips(text, gid, *line.get_data())
    text = re.sub(r"<(metadata|style)\b.*?</\1>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' id="[a-zA-Z0-9.]+_\d+"| id="[a-z_]+/[^"]*"', "", text)  # the same in every figure
    text = re.sub(r"<!--.*?-->\s*", "", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{panel.title}" ', 1)


def _with_tooltips(text: str, gid: str, steps: Any, values: Any) -> str:
    """A title in every mark of the line `gid`: browsers show it where the mouse rests."""
    start = text.find(f'<g id="{gid}">')
    end = text.find('<g id="', start + 8)
    if start < 0:
        return text
    drawn = iter([(s, v) for s, v in zip(steps, values, strict=True) if v == v])  # noqa: PLR0124 - NaN has no mark

    def titled(mark: re.Match[str]) -> str:
        step, value = next(drawn)
        return f"{mark[1]}><title>{gid}, step {step}: {value:.4g}</title></use>"

    part = re.sub(r"(<use [^>]*?)/>", titled, text[start:end])
    return text[:start] + part + text[end:]


def _pyplot() -> Any:
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra, and slow to load
    except ImportError:
        raise MissingExtra("matplotlib", extra="report", purpose="drawing curves") from None
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    return plt

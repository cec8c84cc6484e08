"""A warm start as one picture: suites on held-out problems before and after, and the loss on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from code_a1.errors import MissingExtra, RunDirError
from code_a1.records import Validity

SHARES = {
    "eval/validity": "right answer",
    "eval/usable": "call runs on the reference",
    "eval/mutation_score": "mutation score of the right tests",
}
COLORS = ("#9aa4b2", "#d1580b")


def draw_warm_start(rows: Sequence[Mapping[str, Any]], path: Path, title: str) -> None:
    """Draw the metrics of a run of mode `sft` into `path` (the ending says how: .svg, .png, .pdf).

    Raises:
        MissingExtra: matplotlib is not installed.
        RunDirError: the file cannot be written.
    """
    try:
        import matplotlib as mpl  # noqa: PLC0415 - an extra, and slow to load
    except ImportError:
        raise MissingExtra("matplotlib", extra="report", purpose="drawing curves") from None
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, (shares, classes, loss) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    measured = [row for row in rows if row.get("eval/validity") is not None]
    ends = (
        [("before", measured[0]), ("after", measured[-1])] if len(measured) > 1 else [("before", r) for r in measured]
    )
    for i, (name, row) in enumerate(ends):
        places = [k + 0.38 * i for k in range(len(SHARES))]
        values = [row[key] or 0.0 for key in SHARES]
        errors = [
            [v - (row[f"{key}_low"] or 0.0) for key, v in zip(SHARES, values, strict=True)],
            [(row[f"{key}_high"] or 0.0) - v for key, v in zip(SHARES, values, strict=True)],
        ]
        shares.barh(places, values, 0.36, xerr=errors, color=COLORS[i], label=f"{name}, {row['eval/tests']} tests")
        kinds = [kind for kind in Validity if any(r[f"eval/validity/{kind}"] for _, r in ends)]
        found = [row[f"eval/validity/{kind}"] for kind in kinds]
        classes.barh([k + 0.38 * i for k in range(len(kinds))], found, 0.36, color=COLORS[i], label=name)
        classes.set_yticks([k + 0.19 for k in range(len(kinds))], [str(kind) for kind in kinds], fontsize=8)
    shares.set_yticks([k + 0.19 for k in range(len(SHARES))], list(SHARES.values()), fontsize=8)
    shares.set_title("held-out problems, 95 % intervals over problems", fontsize=10)
    classes.set_title("what became of every test", fontsize=10)
    learned = [row for row in rows if row.get("test/loss") is not None]
    loss.plot([row["step"] for row in learned], [row["test/loss"] for row in learned], marker=".", color=COLORS[1])
    loss.set_title("loss (nats per token of the answers)", fontsize=10)
    loss.set_xlabel("step")
    loss.xaxis.get_major_locator().set_params(integer=True)
    for axis in (shares, classes):
        axis.invert_yaxis()
        axis.set_xlim(left=0)
        if ends:
            axis.legend(fontsize=8)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    try:
        figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
    except (OSError, ValueError) as error:
        raise RunDirError(f"cannot write the picture {path}: {error}") from error
    finally:
        plt.close(figure)

"""Mode `sft`: the supervised warm start of the test policy. See docs/sft.md."""

from code_a1.sft.picture import draw_warm_start
from code_a1.sft.run import warm_start
from code_a1.sft.summary import closing_table

__all__ = ["closing_table", "draw_warm_start", "warm_start"]

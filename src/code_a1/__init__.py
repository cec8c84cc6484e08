"""Train a Code LLM and a Test LLM against each other (Code-A1, arXiv 2603.15611)."""

__version__ = "0.1.0"

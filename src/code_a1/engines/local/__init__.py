"""The embedded engine: language models in this process, on CPU or one GPU, with transformers, torch and peft.

Reading order: `models` (where weights come from), `chat` (text to tokens), `attention` (three ways to attend),
`backbone` (the network and its adapters), `sampler`, `packing` and `head` and `loss` (the training forward),
`optimizer`, `engine` (all of it as a `PolicyEngine`), `pair` (two policies on one set of weights).
"""

from importlib.util import find_spec

from code_a1.errors import MissingExtra

for _package in ("torch", "transformers"):
    if find_spec(_package) is None:
        raise MissingExtra(_package, extra="local", purpose="the local engine")

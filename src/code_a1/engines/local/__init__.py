"""The embedded engine: language models in this process, on CPU or one GPU, with transformers, torch and peft.

Reading order: `models` (where weights come from), `chat` (text to tokens), `attention` (three ways to attend),
`backbone` (the network and its adapters), `sampler`, `packing` and `head` and `loss` (the training forward),
`optimizer`, `engine` (all of it as a `PolicyEngine`), `pair` (two policies on one set of weights).
"""

import os
from importlib.util import find_spec

from code_a1.errors import MissingExtra

# Read by OpenMP when torch is loaded. By default its threads spin while they wait for each other; that takes the cores
# which sandbox workers need, and made matrix products 3 to 8 times slower where others used the cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

for _package in ("torch", "transformers"):
    if find_spec(_package) is None:
        raise MissingExtra(_package, extra="local", purpose="the local engine")

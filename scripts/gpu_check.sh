#!/usr/bin/env bash
# What the local engine does on one CUDA GPU, in under 8 minutes: agreement with the CPU, sampling and training speed and
# memory of a random-weight pair of Qwen2.5-1.5B's shape and of a small real model, a run of five steps. Prints a table.
#
#   scripts/gpu_check.sh                      on a machine with a GPU
#   scripts/gpu_check.sh --model FOLDER       with a small real model, such as one of `code-a1 lab pretrain`
#   scripts/gpu_check.sh --dry                small sizes, on the CPU where there is no GPU: shows that the check runs
#
# Needs torch, transformers and this checkout with its four small dependencies (click, pydantic, rich, tomli-w). Where
# those are not installed and the machine is offline, put their wheels (4 MB) into a folder and name it in WHEELS. With
# peft the pair shares its base under LoRA; without it both policies train all weights, which takes an 80 GB GPU.
# Exit code: 0 all holds, 1 something does not, 3 no GPU or no torch.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
if [ -z "${PYTHON:-}" ] && [ -x .venv/bin/python ]; then python=.venv/bin/python; fi
if ! "$python" -c 'import torch, transformers' 2>/dev/null; then
    echo "torch or transformers cannot be imported by $python; name another interpreter in PYTHON" >&2
    exit 3
fi
if ! "$python" -c 'import click, pydantic, rich, tomli_w' 2>/dev/null; then
    if [ -z "${WHEELS:-}" ]; then
        echo "click, pydantic, rich or tomli-w is missing: pip install them, or name a folder of their wheels in WHEELS" >&2
        exit 3
    fi
    "$python" -m pip install --quiet --no-index --find-links "$WHEELS" --target .gpu-check-packages click pydantic rich tomli-w
    export PYTHONPATH="$PWD/.gpu-check-packages"
fi
export PYTHONPATH="$PWD/src${PYTHONPATH:+:$PYTHONPATH}" TOKENIZERS_PARALLELISM=false
exec "$python" -m code_a1.bench.gpu_check "$@"

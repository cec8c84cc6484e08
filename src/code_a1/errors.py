"""Every error that code-a1 raises on purpose. The message says what is wrong, where, and what to do next.

    CodeA1Error
    ├── ConfigError           (ValueError)         a key, value or combination in the configuration
    ├── ProblemError          (ValueError)         a row of a problem file, or the file as a whole
    ├── ModelError            (ValueError)         a model or tokenizer that cannot be used as asked
    ├── RunDirError           (OSError)            a run folder that exists, is in use or cannot be written
    ├── CheckpointError       (OSError)            a checkpoint that is missing, partial or of another run
    ├── CodecError            (ValueError)         bytes that are not an encoded value
    ├── SandboxError          (RuntimeError)       the sandbox itself failed; never the judged code's fault
    │   └── SandboxUnavailable                     no isolation that this machine offers is good enough
    ├── TrainingError         (RuntimeError)       a step that cannot be completed (NaN, out of memory)
    ├── WatchdogStop          (RuntimeError)       a watchdog that the configuration lets end the run
    └── MissingExtra          (ModuleNotFoundError)  an optional package is not installed; names the extra

Each class also inherits the built-in exception it stands for, so that callers can catch either. What an untrusted
completion does wrong is never an exception: it is data with a validity or a verdict (`code_a1.records`).
"""

from __future__ import annotations


class CodeA1Error(Exception):
    """Root of the tree. `exit_code` is what the command line returns when it ends with this error."""

    exit_code = 2


class ConfigError(CodeA1Error, ValueError):
    """The configuration cannot be used; the message names the key and the accepted values."""


class ProblemError(CodeA1Error, ValueError):
    """A problem file or one of its rows cannot be used; the message names file and row."""


class ModelError(CodeA1Error, ValueError):
    """A model cannot be found, loaded or used as asked; the message names it and what to try."""


class RunDirError(CodeA1Error, OSError):
    """A run folder exists already, is in use, or cannot be written."""


class CheckpointError(CodeA1Error, OSError):
    """A checkpoint is missing, incomplete or belongs to another run."""


class CodecError(CodeA1Error, ValueError):
    """Bytes do not decode to a value within the codec's limits, or a value cannot be encoded."""


class SandboxError(CodeA1Error, RuntimeError):
    """The sandbox failed, not the code that it ran."""

    exit_code = 3


class SandboxUnavailable(SandboxError):
    """No isolation tier that this machine offers is allowed by the configuration."""


class TrainingError(CodeA1Error, RuntimeError):
    """A training step cannot be completed; the message names step, policy and batch."""

    exit_code = 3


class WatchdogStop(CodeA1Error, RuntimeError):
    """A watchdog saw what the configuration wants the run to end for; everything is saved."""

    exit_code = 1


class MissingExtra(CodeA1Error, ModuleNotFoundError):
    """An optional dependency is absent.

    >>> str(MissingExtra("torch", extra="local", purpose="the local engine"))
    "the local engine needs the package 'torch': pip install 'code-a1[local]'"
    """

    exit_code = 3

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(f"{purpose} needs the package '{package}': pip install 'code-a1[{extra}]'")

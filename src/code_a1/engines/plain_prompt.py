"""Chat prompts as plain text, for models without a chat template."""

from __future__ import annotations

from code_a1.records import Prompt


def render_plain(prompt: Prompt) -> str:
    r"""Write the messages one after another under role headers, and open the assistant's turn.

    >>> from code_a1.records import Message
    >>> render_plain((Message("system", "Be brief."), Message("user", "Hi")))
    '### System:\nBe brief.\n\n### User:\nHi\n\n### Assistant:\n'
    """
    turns = [f"### {message.role.capitalize()}:\n{message.content}\n\n" for message in prompt]
    return "".join(turns) + "### Assistant:\n"

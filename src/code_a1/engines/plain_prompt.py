"""Chat prompts as plain text, for models without a chat template."""

from __future__ import annotations

from code_a1.records import Prompt


def render_plain(prompt: Prompt) -> str:
    r"""Write the messages one after another under role headers, and open the assistant's turn.

    >>> from code_a1.records import Message
    >>> render_plain((Message("system", "Be brief."), Message("user", "Hi")))
    '### System:\nBe brief.\n\n### User:\nHi\n\n### Assistant:\n'
    """
    asked, begun = split_answer(prompt)
    turns = [f"### {message.role.capitalize()}:\n{message.content}\n\n" for message in asked]
    return "".join(turns) + "### Assistant:\n" + begun


def split_answer(prompt: Prompt) -> tuple[Prompt, str]:
    """The messages to be answered, and the beginning of the answer (empty where the prompt gives none)."""
    if prompt and prompt[-1].role == "assistant":
        return prompt[:-1], prompt[-1].content
    return prompt, ""

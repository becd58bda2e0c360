"""Control tokens of chat templates in a prompt, split so that no server can read them as turns.

Servers such as vLLM, SGLang and llama.cpp render messages into one text and then look for their tokens in all of it:
a judged text that says `<|im_end|>` could close its turn and open the system's. The blank keeps the words readable, and
quotes that a judge takes from them are still found, because the locator folds blanks.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from mixseek.domain.ports import Message

# What the widespread templates use; a model's own list is known only where its weights are (`gguf:`).
# Two patterns that each begin with one character: a search for that costs a tenth of a search for either. Case does not
# count: servers fold it, or a judge does.
_ANGLED = re.compile(
    r"<(?:\|[^<>|\n]{1,40}\|>"  # ChatML, Llama 3, Phi, GLM, Granite, Harmony
    r"|｜[^<>｜\n]{1,40}｜>"  # DeepSeek
    r"|/?s>|/?(?:bos|eos|pad|unk|mask|cls|sep|sop|eop|eod|eoh|eom|eoa|eot|sot|gmask|image|video|audio)>"
    r"|(?:start|end)_of_(?:turn|image|audio|text|message)>"  # Gemma
    r"|(?:bos|eos|pad|unk|cls|sep|mask|eop|sop)_token>"  # Command
    r"|(?:reserved|unused|extra_id|extra_token|special|sentinel|mask|placeholder)(?:_?(?:special_)?(?:token)?_?\d{1,4})>"
    r"|/?(?:SPECIAL|TOOLCALL|tool_call|tool_response|tool_calls|available_tools|function_call|tools|im_start|im_end)"
    r"(?:_\d{1,4})?>"  # Nemotron, Qwen, Hermes
    r"|(?:human|bot|user|assistant|system|unk_?id)>(?=\s*:)"
    r"|</?SYS>>"
    r"|\[(?:Human|Bot|User|Assistant|System)\]>)",
    re.IGNORECASE,
)
_SQUARE = re.compile(
    # Mistral
    r"\[(?:/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|THINK|ARGS|CALL_ID|PREFIX"
    r"|SUFFIX|MIDDLE|IMG|IMG_BREAK|IMG_END|AUDIO|BEGIN_AUDIO|MODEL_SETTINGS)"
    # ChatGLM, BERT, Baichuan, InternLM, Solar
    r"|g?s?MASK|CLS|SEP|PAD|UNK|EOS|BOS|control_\d{1,4}|UNUSED_TOKEN_\d{1,4}|unused\d{1,4}|/?SYS|\|[^\[\]|\n]{1,40}\|)\]",
    re.IGNORECASE,
)


def split_control_tokens(messages: Sequence[Message]) -> tuple[tuple[Message, ...], int]:
    """The messages with a blank inside every token, and how many there were."""
    split, count = [], 0
    for message in messages:
        content, changes = _split_text(message.content)
        count += changes
        split.append(replace(message, content=content) if changes else message)
    return tuple(split), count


# The system's message is the same for every sample, and three times as long as the rest.
@lru_cache(maxsize=16)
def _split_text(text: str) -> tuple[str, int]:
    text, angled = _ANGLED.subn(_with_blank, text)
    text, square = _SQUARE.subn(_with_blank, text)
    return text, angled + square


def _with_blank(found: re.Match[str]) -> str:
    return f"{found[0][0]} {found[0][1:]}"

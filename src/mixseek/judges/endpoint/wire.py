"""The two wire formats, OpenAI chat completions and Anthropic messages: requests out, answers in."""

from mixseek.judges.endpoint.anthropic_messages import AnthropicMessages
from mixseek.judges.endpoint.openai_chat import OpenAIChat

Wire = OpenAIChat | AnthropicMessages

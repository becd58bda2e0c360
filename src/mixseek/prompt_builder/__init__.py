"""Prompts for teams, the evaluator and the judge of progress; seed 004 prescribes these paths and names."""

from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.models import EvaluatorPromptContext, PromptBuilderSettings, RoundPromptContext

__all__ = ["EvaluatorPromptContext", "PromptBuilderSettings", "RoundPromptContext", "UserPromptBuilder"]

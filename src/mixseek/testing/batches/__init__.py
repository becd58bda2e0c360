"""Batch interfaces of the loopback provider: OpenAI and what speaks alike, Anthropic, Gemini and Mistral.

A file a provider's wire; beside them the store of batches, what becomes of their lines, and what goes wrong with them.
All of it is written from the providers' documentation and from recorded files, not from our client.
"""

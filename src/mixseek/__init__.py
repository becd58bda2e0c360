"""Judge the outputs of language models with protocols that can be audited."""

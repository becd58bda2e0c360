"""How a comparison looks: its words, its sections and documents, and its page."""

"""The only place that draws sections: on a terminal, as HTML, as Markdown. What a section says is decided by whoever makes it."""

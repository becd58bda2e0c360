"""The only place that draws sections: on a terminal, as HTML. What a section says is decided by whoever makes it."""

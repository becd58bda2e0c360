"""The only place that draws sections: on a terminal, as HTML, as Markdown. What they say, others decide."""

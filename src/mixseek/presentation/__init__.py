"""How results are shown: sections of sentences, tables and plots as plain data, and what draws them.

Only `render` draws: on a terminal, as HTML, as Markdown; it knows sections and no result. Which sections a result has
is said in `reports`, or in the `views` of the feature that alone shows it; pages that lay them out are in `reports`.
"""

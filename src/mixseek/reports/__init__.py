"""Results in words, pictures and documents: for a terminal, as a page, as JSON, for build servers.

Everything that a person or a program reads of a result is written here and nowhere else; numbers come from `analysis`
and are never computed here. A result gives sections (`sections`), and only `render` draws them: on a terminal, as HTML,
as Markdown. What serves pages over HTTP is `web`.
"""

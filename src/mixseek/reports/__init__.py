"""Results in words, pictures and documents: for a terminal, as a page, as JSON.

What a person or a program reads of a run and of statistics is written here and nowhere else; numbers come from
`analysis` and are never computed here. A result gives sections, which `presentation` draws. What only one feature
shows stands in that feature's `views` (`comparison`, `labels`, `audits`, `competition`), what build servers read in
`ci`. What serves pages over HTTP is `web`.
"""

"""Whether a response stands by the answer found in it, or denies it, doubts it, drops it or leaves it to somebody else.

A sentence *about* the answer is told by what it is made of: a subject that is the answer as a whole ("the above", "my
solution", "that", 上記の答え), a predicate that calls it right, wrong, withdrawn or unknown, and negations that turn it
round. The words stand in classes (`phrases.toml`) that combine, so that no wording has to be listed.

What asks that question belongs here, one file a place: `stance.py` is the door, `behind.py` reads the last one
behind the answer, `before.py` one at the head that hands all that follows to somebody else or calls it wrong, and
`within.py` the sentence of the answer itself. `sentences.py` says what one sentence says, `words.py` holds the classes.
"""

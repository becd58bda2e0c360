"""Asking targets for answers: questions × targets × variants × repeats, from a request to rows that anybody reads.

What is asked, of whom, and what became of it belongs here. How a target is spoken to is `judges`, how it is waited for
is `engine`, and what a reply says is `protocols.answers`.
"""

"""Judgments as files, one each, as seed 003 wants them: written, checked again, and kept with a run that is renamed.

Exports of rows begin here as well. Nothing is computed: what stands in a journal is laid out.
"""

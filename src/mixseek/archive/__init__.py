"""Judgments as files, one each, as seed 003 wants them: written, checked again, and kept with a run that is renamed."""

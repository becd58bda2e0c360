"""Words of the system as types: no I/O, no clock, no environment.

Here belongs what several rooms speak of (samples, judgments, counts, labels, ports); rules about them stand in the room
of their subject.
"""

"""Words of the system as types: no I/O, no clock, no environment."""

"""Measurements, printed as ratios against a peer or a floor in the same run; none of them is a test."""

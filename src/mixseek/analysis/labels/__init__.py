"""What labels of people make of a run's numbers: which count, how they were drawn, what is corrected, what is missing.

Labels are drawn, taken in and reviewed in the room `labels`; they are kept in `storage/labels.py`.
"""

"""Labels that people give: sheets drawn, written and taken in, texts reviewed in the viewer, and what is missing.

The store of labels is `storage/labels.py`, because numbers need it; what labels make of a headline is computed in
`analysis`, and told with every report in `reports/labels.py`.
"""

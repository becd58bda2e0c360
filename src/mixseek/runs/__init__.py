"""A run from its request to its seal: in this process, waiting for endpoints, or on a cluster.

Here belong the request and its parts, what was planned to be judged, the forecast, rounds under a budget, how far a
run is, and what it keeps beside its journal. What a run amounts to is read by `analysis`; how one sample is judged is
`engine`.
"""

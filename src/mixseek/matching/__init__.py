"""Locate, normalise and compare answers; pure text in, a decision with its reasons out.

Nothing here knows a judge or a protocol. Its digest names the rules of a run. A response goes through `visible`
(reasoning is blanked), `company` (what stands around an answer), `statements` (where the answer is stated), `choice`
(which statement counts) and the kind of the answer; `stance.stance` has the last word: does the response stand by it?
"""

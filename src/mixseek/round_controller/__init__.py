"""Whether a team goes on: the model's opinion, and the decision beside it."""

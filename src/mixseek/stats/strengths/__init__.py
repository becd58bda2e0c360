"""Who is stronger, from comparisons of two at a time: Bradley–Terry, a tie counting half for each.

The chance that i beats j is 1/(1 + e^-(θ_i − θ_j)); strengths θ are centred, so that 0 is the average of those on the
board. Here is when there are strengths, what they are, how far they can be told apart, and how alike two orders are.
Who was compared, and by whom, is `analysis/votes`.
"""

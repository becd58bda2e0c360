"""Human labels: what they are, how many it takes, and the headline that they correct."""

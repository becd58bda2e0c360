"""Human labels on disk: what people said, how texts were drawn, and sheets to fill in."""

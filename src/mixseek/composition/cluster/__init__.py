"""A run on a Ray cluster: the driver cuts it into shards, workers judge them with the engine of one machine."""

"""Files of batch endpoints, a module for each provider; outputs are joined with their requests in `joining`."""

"""The words of results, once for terminal and page: numbers, scores of 0..1, scales of a protocol, names of states."""

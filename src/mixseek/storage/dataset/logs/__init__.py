"""Log files of other tools as rows of a dataset: `registry` knows the formats, each chapter reads a family of them."""

"""A run as sections: its report, how far its judges can be trusted, marks on dimensions, one sample."""

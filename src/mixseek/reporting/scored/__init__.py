"""The part of a report that protocols with dimensions have."""

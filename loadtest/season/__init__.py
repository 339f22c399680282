"""A whole campaign on the production shape."""

"""A fourth label of citations, "contradicts": whatever follows from the label set takes it."""

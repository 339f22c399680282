"""What Assay costs at the size of a whole track: imports and scores, beside what nothing can be faster than."""

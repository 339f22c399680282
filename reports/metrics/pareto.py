"""Which runs are not beaten at once in score and in length (method, section 6)."""

import numpy as np

from reports.metrics.arrays import Booleans, Floats


def on_front(lengths: Floats, scores: Floats) -> Booleans:
    """Return the runs that no other run beats: none is at most as long and scores at least as much, and differs.

    R each; a run whose length or score is nan is never on the front and beats nobody.
    """
    known = ~np.isnan(lengths) & ~np.isnan(scores)
    front: Booleans = np.zeros(len(lengths), dtype=np.bool_)
    best = -np.inf
    for length in np.unique(lengths[known]):
        same = known & (lengths == length)
        top = scores[same].max()
        if top > best:
            front |= same & (scores == top)
            best = top
    return front

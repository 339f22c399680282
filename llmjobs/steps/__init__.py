"""Steps of LLM jobs: the calls in their order, and the outcome of the replies; pure functions without I/O.

A step is a generator: it yields what it asks, is sent replies, and returns its outcome. It depends on nothing but its
input and the replies, so one that is started again with the recorded replies goes the same way.
"""

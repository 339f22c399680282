"""A campaign as one file: what is in it, how it is written, checked and loaded."""

"""Makes the files of the demo: `python -m loadtest.demo`."""

"""Long tests under trouble: a made-up campaign at full size, faults, killed processes, and a count of what came out."""

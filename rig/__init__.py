"""What the soak and the benchmarks drive the application with."""

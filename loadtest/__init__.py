"""What tries the application at length and under load: soak tests, benchmarks, and the servers they start."""

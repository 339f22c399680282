"""What is allowed and what follows, as pure functions over plain values; one module an idea."""

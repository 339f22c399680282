"""Rules of the domain as pure functions over plain values; one module an idea."""

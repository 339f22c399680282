"""A simulated LLM: the OpenAI API over HTTP on this machine, answering by word overlap and saying so in its name."""

"""A stage of five minutes: is the answer polite?"""

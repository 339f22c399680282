"""Size of the statements that write many rows."""

from typing import Final

ROWS_A_STATEMENT: Final = 500
"""More rows make a statement no quicker, and on SQLite it must not have more than 32,766 values."""

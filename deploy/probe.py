"""Ask the web process of this container whether it is ready: exit 0 if so, 1 if not. Needs nothing but Python."""

import http.client
import os
import sys


def is_ready() -> bool:
    """Ask `/readyz`, as the first host name that is answered."""
    host = os.environ.get("ALLOWED_HOSTS", "127.0.0.1").split(",")[0].strip().lstrip(".")
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("PORT", "8000")), timeout=4)
    try:
        connection.request("GET", "/readyz", headers={"Host": host})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if is_ready() else 1)

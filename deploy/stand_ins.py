"""Stand-ins for the base images, made of Debian's packages on a machine that can pull no images.

They have the names of the real images. So this makes only those that the engine lacks, and prints which they are:
`docker image rm` takes them away. Needs root, debootstrap and a Docker engine; see docs/operations.md.
"""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
DEBIAN = "assay-stand-in-debian"

PYTHON = """
RUN apt-get update \\
    && apt-get install --yes --no-install-recommends python3 python3-venv \\
    && ln -s python3 /usr/bin/python
ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt
"""
# As the real image: the first start makes the user and the database, and the password is asked for over the network.
POSTGRESQL = r"""
RUN apt-get update && apt-get install --yes --no-install-recommends postgresql-15
ENV PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=/var/lib/postgresql/data
RUN printf '%s\n' '#!/bin/sh' 'set -eu' \
    'as="setpriv --reuid=postgres --regid=postgres --init-groups"' \
    'if [ ! -s "$PGDATA/PG_VERSION" ]; then' \
    '  install -d -m 700 -o postgres -g postgres "$PGDATA"' \
    '  install -m 600 -o postgres "$POSTGRES_PASSWORD_FILE" /var/lib/postgresql/password' \
    '  $as initdb -U "$POSTGRES_USER" --pwfile=/var/lib/postgresql/password --auth-host=scram-sha-256' \
    '  echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"' \
    '  $as pg_ctl --wait -o "-c listen_addresses=" start' \
    '  $as createdb -U "$POSTGRES_USER" "$POSTGRES_DB"' \
    '  $as pg_ctl --wait stop' \
    'fi' \
    'exec $as postgres -c listen_addresses="*"' > /usr/local/bin/start-postgres \
    && chmod 755 /usr/local/bin/start-postgres && install -d -o postgres /var/run/postgresql
STOPSIGNAL SIGINT
CMD ["start-postgres"]
"""
# As the real image: only the server itself runs as the user redis.
REDIS = r"""
RUN apt-get update && apt-get install --yes --no-install-recommends redis-server
RUN printf '%s\n' '#!/bin/sh' \
    'if [ "$1 $(id -u)" = "redis-server 0" ]; then set -- setpriv --reuid=redis --regid=redis --init-groups "$@"; fi' \
    'exec "$@"' > /usr/local/bin/docker-entrypoint.sh && chmod 755 /usr/local/bin/docker-entrypoint.sh
WORKDIR /data
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["redis-server"]
"""
# Lists of testing are valid for a week, and some mirrors are older.
NGINX = """
RUN apt-get -o Acquire::Check-Valid-Until=false update \\
    && apt-get install --yes --no-install-recommends nginx-light \\
    && rm -f /etc/nginx/sites-enabled/default
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
"""


@dataclass(frozen=True, slots=True)
class StandIn:
    """One image: its name in Dockerfile or docker-compose.yml, the release of Debian, and the steps that make it."""

    name: str
    release: str
    steps: str


STAND_INS = (
    StandIn("python:3.11-slim-bookworm", "bookworm", PYTHON),
    StandIn("postgres:15-bookworm", "bookworm", POSTGRESQL),
    StandIn("redis:7-bookworm", "bookworm", REDIS),
    # nginx.compose.conf needs 1.27.3, which is newer than bookworm's.
    StandIn("nginx:1.28-bookworm", "testing", NGINX),
)


def docker(*words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command of the engine."""
    return subprocess.run(["docker", *words], input=given, text=True, check=False, capture_output=True)


def has_image(name: str) -> bool:
    """Check whether the engine has an image of that name."""
    return docker("image", "inspect", name).returncode == 0


def make_debian(release: str) -> str:
    """Make an image of a release of Debian, with this machine's certificates; return its name."""
    name = f"{DEBIAN}:{release}"
    if has_image(name):
        return name
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        command = ["debootstrap", "--variant=minbase", "--include=ca-certificates", release, str(root)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if CERTIFICATES.exists():
            shutil.copy(CERTIFICATES, root / CERTIFICATES.relative_to("/"))
        packed = subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE)
        subprocess.run(["docker", "import", "-", name], check=True, stdin=packed.stdout, stdout=subprocess.DEVNULL)
        if packed.wait():
            raise SystemExit(f"{root} cannot be packed")
    return name


def make(stand_in: StandIn) -> None:
    """Build one stand-in."""
    done = docker(
        "build", "--tag", stand_in.name, "-", given=f"FROM {make_debian(stand_in.release)}{stand_in.steps}"
    )
    if done.returncode:
        raise SystemExit(f"{stand_in.name}: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def make_missing() -> list[str]:
    """Make every stand-in whose name the engine lacks; return their names."""
    made = []
    for stand_in in STAND_INS:
        if not has_image(stand_in.name):
            make(stand_in)
            made.append(stand_in.name)
    return made


if __name__ == "__main__":
    sys.stdout.write("".join(f"made a stand-in for {name}\n" for name in make_missing()))

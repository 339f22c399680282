"""A proxy in front of web processes: nginx as in deploy/, or, where there is none, one that only passes on."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

from loadtest.servers.services import HOST, Program, free_port

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
LONGEST_START = 20.0  # seconds
NGINX = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream assay_web {{
{servers}
        keepalive 16;
    }}
    server {{
        listen {address}{tls};
        include {include};
    }}
}}
"""


class Proxy(Program):
    """A proxy on a port of its own. `certificate`: the folder of cert.pem and key.pem, where it is to speak TLS."""

    def __init__(self, folder: Path, behind: Sequence[str], certificate: Path | None = None) -> None:
        self._folder, self._behind, self._certificate = folder, behind, certificate
        self.address = f"{HOST}:{free_port()}"

    @staticmethod
    def program() -> str:
        return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin") or ""

    def start(self) -> None:
        self._process = subprocess.Popen(self._command(), stderr=subprocess.DEVNULL)
        end = time.monotonic() + LONGEST_START
        while not _listens(self.address):
            if self._process.poll() is not None or time.monotonic() > end:
                log = self._folder / "error.log"
                raise SystemExit(f"the proxy does not start: {log.read_text()[-800:] if log.exists() else ''}")
            time.sleep(0.05)

    def _command(self) -> list[str]:
        program = self.program()
        if not program:
            return [sys.executable, "-m", "loadtest.servers.proxy", self.address, *self._behind]
        file = self._folder / "nginx.conf"
        tls = " ssl"
        if self._certificate:
            names = ("ssl_certificate", "cert"), ("ssl_certificate_key", "key")
            tls += "".join(f"; {name} {self._certificate / f'{stem}.pem'}" for name, stem in names)
        servers = "\n".join(f"        server {address} max_fails=1 fail_timeout=1s;" for address in self._behind)
        text = NGINX.format(
            folder=self._folder,
            servers=servers,
            address=self.address,
            tls=tls if self._certificate else "",
            include=DEPLOY / "proxy.conf",
        )
        file.write_text(text, encoding="utf-8")
        return [program, "-e", str(self._folder / "error.log"), "-c", str(file)]


def _listens(address: str) -> bool:
    host, _, port = address.partition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), timeout=1):
        return True
    return False


def pass_on(address: str, behind: Sequence[str]) -> None:
    """Take connections, and pass each on to the next process that takes it."""
    host, _, port = address.partition(":")
    turn = 0
    with socket.create_server((host, int(port)), backlog=256) as server:
        while True:
            client, _ = server.accept()
            turn += 1
            order = [behind[(turn + n) % len(behind)] for n in range(len(behind))]
            Thread(target=_carry, args=(client, order), daemon=True).start()


def _carry(client: socket.socket, order: Sequence[str]) -> None:
    for address in order:
        host, _, port = address.partition(":")
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=5) as server:
            server.settimeout(None)
            back = Thread(target=_copy, args=(server, client), daemon=True)
            back.start()
            _copy(client, server)
            back.join()
            break
    client.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(1 << 16):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    pass_on(sys.argv[1], sys.argv[2:])

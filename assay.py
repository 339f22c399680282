"""The command `assay`: the demo, an installation of one's own, and every command of both.

In a clone `make run` calls it. In a wheel it lies beside all rooms in the package `assay_workbench`.
"""

import argparse
import gc
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
import tomllib
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
CLONE = HERE / "pyproject.toml"
LOOK_S = 0.2
SERVERS = {
    "web": f"gunicorn --config {shlex.quote(str(HERE / 'gunicorn.conf.py'))} config.wsgi",
    "worker": "celery --quiet -A config worker --pool threads --concurrency 3 --without-gossip --without-mingle",
    "llm": "django simulate_llm --port setting",
}


def main() -> int:
    """Do what the words of the command line say."""
    sys.path.insert(0, str(HERE))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    manages = sys.argv[1:2] == ["manage"]
    options = None if manages else parser().parse_args()
    home = os.environ.get("ASSAY_HOME") or data_folder(demo=options is not None and options.does is demo)
    port = getattr(options, "port", None)
    if port is not None:
        os.environ["PORT"] = str(port)
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management.base import CommandError

    from web.environment import at_home

    try:
        os.environ["ASSAY_HOME"] = str(Path(at_home("ASSAY_HOME", str(home))).absolute())
        return int(options.does(options)) if options else manage(sys.argv[2:])
    except (CommandError, ImproperlyConfigured) as error:
        sys.exit(str(error))


def parser() -> argparse.ArgumentParser:
    words = argparse.ArgumentParser(
        "assay", description="Assay, the workbench for judging the answers of RAG systems."
    )
    words.add_argument("--version", action="version", version=f"assay {own_version()}")
    commands = words.add_subparsers(required=True, metavar="COMMAND")
    for does in (demo, start):
        command = commands.add_parser(does.__name__, help=does.__doc__, description=does.__doc__)
        command.add_argument("--port", type=int, metavar="N", help="where it listens; default: PORT, else 8000")
        command.set_defaults(does=does)
    command.add_argument("--admin", metavar="NAME", help="make this administrator's account, where there is none")
    command.add_argument(
        "server", nargs="?", choices=SERVERS, help="only this server, on a database that is migrated"
    )
    commands.add_parser("manage", help=manage.__doc__)
    commands.add_parser("where", help=where.__doc__, description=where.__doc__).set_defaults(does=where)
    return words


def own_version() -> str:
    if CLONE.exists():
        return str(tomllib.loads(CLONE.read_text("utf-8"))["project"]["version"])
    return version("assay-workbench")


def data_folder(*, demo: bool) -> Path:
    """The demo has a folder of its own, so that its published passwords never open what is real."""
    if CLONE.exists():
        return HERE / "var"
    platform = "~/Library/Application Support" if sys.platform == "darwin" else "~/.local/share"
    base = Path(os.environ.get("XDG_DATA_HOME") or platform)
    return base / ("assay-demo" if demo else "assay")


def where(options: argparse.Namespace) -> int:
    """Print the folder of your data."""
    print(os.environ["ASSAY_HOME"])
    return 0


def manage(words: list[str]) -> int:
    """Run a command on your data: `assay manage help` lists them."""
    from django.core.management import execute_from_command_line

    execute_from_command_line(["assay manage", *words])
    return 0


def demo(options: argparse.Namespace) -> int:
    """Serve the demo campaign, with an account for each role."""
    servers = set_up()
    from django.core.management import call_command

    from organizer.management.commands.load_demo import is_allowed

    # Passwords that everybody knows may cross a network in the clear; those in another database may not.
    call_command("migrate", verbosity=0, skip_checks=is_allowed())
    logins = StringIO()
    call_command("load_demo", stdout=logins)
    os.environ["DEMO_LOGINS"] = logins.getvalue()
    return serve(servers)


def start(options: argparse.Namespace) -> int:
    """Serve an installation of your own; the first start asks for an administrator's account."""
    if options.server:
        os.execve(sys.executable, command(options.server), environment())
    servers = set_up()
    from django.core.management import call_command

    from accounts.models import User

    call_command("migrate", verbosity=0, skip_checks=False)
    if User.objects.filter(demo=True).exists():
        sys.exit(
            "The demo is in this database, and everybody knows its passwords. Name another folder in ASSAY_HOME."
        )
    administrators = User.objects.filter(is_superuser=True)
    if options.admin and not administrators.filter(username=options.admin).exists():
        call_command("createsuperuser", username=options.admin)
    elif not administrators.exists():
        print("The first account is an administrator's, who invites everybody else.", flush=True)
        call_command("createsuperuser")
    return serve(servers)


def set_up() -> list[str]:
    """Have Django ready; return the servers to start. Exits where a port of theirs is taken."""
    import django
    from django.conf import settings

    gc.disable()  # nearly all that this process makes stays until it waits for the servers
    django.setup()
    from llmjobs.client import endpoint_from_environment

    servers = {"web": (settings.HOST, settings.PORT, "--port 8080"), "worker": None}
    if not endpoint_from_environment():
        servers["llm"] = ("127.0.0.1", settings.SIMULATOR_PORT, "SIMULATOR_PORT=8081 in the environment")
    for host, port, other in filter(None, servers.values()):
        try:
            socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else error
            sys.exit(f"Port {port} of {host} is not free: {reason}. Take another one, such as {other}.")
    if not (settings.STATIC_ROOT / "staticfiles.json").exists():
        from django.core.management import call_command

        call_command("collectstatic", interactive=False, verbosity=0)
    print(f"Data are in {settings.VAR_DIR}", flush=True)
    return list(servers)


def command(name: str) -> list[str]:
    # -P: a folder `api` or `web` where the command is typed is not taken for ours.
    return [sys.executable, "-P", "-m", *shlex.split(SERVERS[name])]


def environment() -> dict[str, str]:
    # Servers put the folder where they are started first on the path, unless it is there: at the end it hides nothing.
    folders = [str(HERE), os.environ.get("PYTHONPATH", ""), os.getcwd()]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, folders))}


def serve(names: list[str]) -> int:
    """Run servers until one ends or a signal comes, then end all of them. A second signal waits for nothing."""
    signals: list[int] = []
    running: list[subprocess.Popen[bytes]] = []

    def end(number: int, _frame: Any) -> None:
        signals.append(number)
        if len(signals) > 1:
            kill(running)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    for name in names:
        # Ctrl-C reaches this process alone, which then ends the servers in order.
        out = subprocess.DEVNULL if name == "llm" else None
        running.append(subprocess.Popen(command(name), env=environment(), stdout=out, start_new_session=True))
    while not signals and all(process.poll() is None for process in running):
        time.sleep(LOOK_S)
    failed = [process.returncode for process in running if process.poll()]
    for process in running:
        process.terminate()
    for process in running:
        process.wait()
    return failed[0] if failed else 0


def kill(running: list[subprocess.Popen[bytes]]) -> None:
    for process in running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())

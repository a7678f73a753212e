"""An OpenSearch cluster for tests: the one that DOWSE_TEST_OPENSEARCH names, or three nodes that are started here.

A node is put together from what Maven Central has: the engine as a zip, the k-NN plugin (without native libraries,
which the engine of Lucene does not need), and the scripting module that it asks for. Everything listens on this machine
only. All processes of a test run share the nodes; the last one stops them.
"""

from __future__ import annotations

import grp
import hashlib
import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock

VERSION = "2.19.1"
NODES = 3
HEAP = "512m"
START_SECONDS = 240
DOWNLOAD_SECONDS = 60

REPOSITORY = "https://repo1.maven.org/maven2"
"""Maven Central; DOWSE_TEST_MAVEN can name a mirror of it."""

ENGINE = (
    f"org/opensearch/distribution/integ-test-zip/opensearch/{VERSION}/opensearch-{VERSION}.zip",
    "af7152d8b7f6f1cee09d47276b32b70479fe6dd8cdbb61213f84eb7f8098b261",
)
KNN = (
    f"org/opensearch/plugin/opensearch-knn/{VERSION}.0/opensearch-knn-{VERSION}.0.zip",
    "eab8c9818865bc035212eab5068cdacae164baa09d4c152f49b736d6f6b0e85c",
)
SCRIPTING = (
    (
        f"org/opensearch/plugin/lang-painless/{VERSION}/lang-painless-{VERSION}.jar",
        "3cf5e02efa40ff5b88e74e1ab66a0bc462de3509fab4a6a4ffe90b8d13777a9a",
    ),
    (
        f"org/opensearch/plugin/opensearch-scripting-painless-spi/{VERSION}/opensearch-scripting-painless-spi-{VERSION}.jar",
        "c2598797a5f6f897ce7e8d05f593ff96de3fbc56c52f299d63cddcae41556dda",
    ),
    (
        "org/antlr/antlr4-runtime/4.13.1/antlr4-runtime-4.13.1.jar",
        "54665d2838cc66458343468efc539e454fc95b46a8a04b13c6ac43fc9be63505",
    ),
    ("org/ow2/asm/asm/9.7/asm-9.7.jar", "adf46d5e34940bdf148ecdd26a9ee8eea94496a72034ff7141066b3eea5c4e9d"),
    (
        "org/ow2/asm/asm-analysis/9.7/asm-analysis-9.7.jar",
        "7bc6bcbc21379948a0c8c467fb0f864206e5b818f6bc0b546872f5c9f941556f",
    ),
    (
        "org/ow2/asm/asm-commons/9.7/asm-commons-9.7.jar",
        "389bc247958e049fc9a0408d398c92c6d370c18035120395d4cba1d9d9304b7a",
    ),
    (
        "org/ow2/asm/asm-tree/9.7/asm-tree-9.7.jar",
        "62f4b3bc436045c1acb5c3ba2d8ec556ec3369093d7f5d06c747eb04b56d52b1",
    ),
    (
        "org/ow2/asm/asm-util/9.7/asm-util-9.7.jar",
        "37a6414d36641973f1af104937c95d6d921b2ddb4d612c66c5a9f2b13fc14211",
    ),
)

STARTED: dict[int, subprocess.Popen[bytes]] = {}
"""What this process started and has not ended."""

MODULE = f"""description=scripting
version={VERSION}
name=lang-painless
classname=org.opensearch.painless.PainlessPlugin
java.version=11
opensearch.version={VERSION}
custom.foldername=
extended.plugins=
has.native.controller=false
"""

POLICY = """grant {
  permission java.lang.RuntimePermission "createClassLoader";
  permission java.lang.RuntimePermission "getClassLoader";
};
"""

LOGGING = """appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = [%p][%c{1}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
"""


class Unavailable(Exception):
    """There is no cluster for tests, and why."""


class ClusterNodes:
    """The nodes of a cluster that was started here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / f"opensearch-{VERSION}"

    def ports(self) -> list[int]:
        """The port of each node for clients."""
        found: list[int] = json.loads((self.folder / "ports.json").read_text())
        return found

    def url(self) -> str:
        """The address of all nodes, without a prefix."""
        return "opensearch+http://" + ",".join(f"127.0.0.1:{port}" for port in self.ports())

    def start(self, number: int) -> None:
        """Start a node; it goes on where it ended."""
        config = self.folder / f"config-{number}"
        environment = os.environ | {
            "OPENSEARCH_PATH_CONF": str(config),
            "OPENSEARCH_JAVA_HOME": str(Path(shutil.which("java") or "").resolve().parent.parent),
            "HOME": str(self.folder),
        }
        environment.pop("OPENSEARCH_JAVA_OPTS", None)
        with (self.folder / f"node-{number}.log").open("ab") as log:
            process = subprocess.Popen(
                [str(self.home / "bin" / "opensearch")],
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
                user="nobody" if os.geteuid() == 0 else None,  # the engine refuses to run as root
                group=_group_of_nobody() if os.geteuid() == 0 else None,
            )
        STARTED[process.pid] = process
        (self.folder / f"pid-{number}").write_text(str(process.pid))

    def kill(self, number: int) -> None:
        """End a node at once, as a crash does."""
        pid = int((self.folder / f"pid-{number}").read_text())
        with suppress(ProcessLookupError):
            os.kill(pid, 9)
        if process := STARTED.pop(pid, None):
            process.wait()

    def wait(self, nodes: int = NODES) -> None:
        """Wait until so many nodes have found each other and nothing is missing."""
        give_up = time.monotonic() + START_SECONDS
        while time.monotonic() < give_up:
            for port in self.ports():
                with suppress(OSError, ValueError):
                    health = f"http://127.0.0.1:{port}/_cluster/health?timeout=1s"
                    with urllib.request.urlopen(health, timeout=5) as answer:
                        found = json.load(answer)
                    if found["number_of_nodes"] >= nodes and found["status"] != "red":
                        return
            time.sleep(0.5)
        logs = "".join(path.read_text()[-500:] for path in sorted(self.folder.glob("node-*.log")))
        raise Unavailable(f"the nodes did not find each other in {START_SECONDS} s: {logs}")

    def stop(self) -> None:
        """End all nodes and delete what they wrote."""
        for number in range(NODES):
            self.kill(number)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def lend_cluster(run: str) -> Iterator[str]:
    """Lend the address of a cluster to a process of a test run."""
    if given := os.environ.get("DOWSE_TEST_OPENSEARCH"):
        yield given
        return
    if os.name != "posix" or shutil.which("java") is None:
        raise Unavailable("no cluster: there is no Java here, and DOWSE_TEST_OPENSEARCH names none")
    nodes = ClusterNodes(Path(tempfile.gettempdir()) / f"dowse-opensearch-{run}")
    users = nodes.folder / "users"
    with FileLock(f"{nodes.folder}.lock"):
        if not users.exists():
            _make_cluster(nodes)
        known = int(users.read_text()) if users.exists() else 0
        users.write_text(str(known + 1))
    try:
        nodes.wait()
        yield nodes.url()
    finally:
        with FileLock(f"{nodes.folder}.lock"):
            left = int(users.read_text()) - 1
            users.write_text(str(left))
            if not left:
                nodes.stop()


def _make_cluster(nodes: ClusterNodes) -> None:
    """Put the nodes together and start them."""
    folder = nodes.folder
    folder.mkdir(parents=True, exist_ok=True)
    _unpack(ENGINE, folder)
    _unpack(KNN, nodes.home / "plugins" / "opensearch-knn")
    module = nodes.home / "modules" / "lang-painless"
    module.mkdir(parents=True, exist_ok=True)
    for part in SCRIPTING:
        shutil.copy(_download(part), module)
    (module / "plugin-descriptor.properties").write_text(MODULE)
    (module / "plugin-security.policy").write_text(POLICY)
    for program in (nodes.home / "bin").iterdir():
        program.chmod(0o755)
    clients, peers = _find_free_ports(NODES), _find_free_ports(NODES)
    (folder / "ports.json").write_text(json.dumps(clients))
    for number, (client, peer) in enumerate(zip(clients, peers, strict=True)):
        _configure(nodes, number, client, peer, peers)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "nobody", str(folder)], check=True)
    for number in range(NODES):
        nodes.start(number)


def _configure(nodes: ClusterNodes, number: int, client: int, peer: int, peers: Sequence[int]) -> None:
    config = nodes.folder / f"config-{number}"
    config.mkdir(exist_ok=True)
    names = ", ".join(f"node-{i}" for i in range(NODES))
    hosts = ", ".join(f"'127.0.0.1:{one}'" for one in peers)
    (config / "opensearch.yml").write_text(
        f"cluster.name: {nodes.folder.name}\nnode.name: node-{number}\nnetwork.host: 127.0.0.1\n"
        f"http.port: {client}\ntransport.port: {peer}\npath.data: {nodes.folder}/data-{number}\n"
        f"path.logs: {nodes.folder}/logs-{number}\ndiscovery.seed_hosts: [{hosts}]\n"
        f"cluster.initial_cluster_manager_nodes: [{names}]\n"
        "cluster.routing.allocation.disk.threshold_enabled: false\n"
    )
    (config / "jvm.options").write_text(
        f"-Xms{HEAP}\n-Xmx{HEAP}\n-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n"
    )
    (config / "log4j2.properties").write_text(LOGGING)


def _unpack(part: tuple[str, str], folder: Path) -> None:
    with zipfile.ZipFile(_download(part)) as archive:
        archive.extractall(folder)


def _download(part: tuple[str, str]) -> Path:
    """Download a file once for all runs; it must be the one that is known."""
    path, expected = part
    kept = Path(tempfile.gettempdir()) / "dowse-opensearch-files" / Path(path).name
    kept.parent.mkdir(exist_ok=True)
    if not kept.exists() or hashlib.sha256(kept.read_bytes()).hexdigest() != expected:
        url = f"{os.environ.get('DOWSE_TEST_MAVEN', REPOSITORY)}/{path}"
        try:
            with urllib.request.urlopen(url, timeout=DOWNLOAD_SECONDS) as answer:
                data = answer.read()
        except OSError as error:
            raise Unavailable(f"no cluster: Maven Central cannot be reached ({error})") from None
        if hashlib.sha256(data).hexdigest() != expected:
            raise Unavailable(f"no cluster: {path} is another file than expected")
        kept.write_bytes(data)
    return kept


def _find_free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _group_of_nobody() -> str:
    return grp.getgrgid(pwd.getpwnam("nobody").pw_gid).gr_name

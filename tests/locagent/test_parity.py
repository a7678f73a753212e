"""The profile against what LocAgent itself answered: 25 queries about two releases, which come from PyPI.

``top10.json`` has LocAgent's hits (path and lines) for every fourth of 100 queries; those that share no word with the
query, with which it fills its ten up in no defined order, are left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from dowse import Engine
from dowse.types.answers import SearchOptions

RELEASES = {"requests": "requests==2.32.3", "flask": "flask==3.0.3"}
RECORDED = json.loads((Path(__file__).parent / "top10.json").read_text(encoding="utf-8"))
MIN_OVERLAP = 0.95


def download(release: str, folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--no-binary", ":all:", "--dest", str(folder), release]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if run.returncode:
        pytest.skip(f"{release} cannot be had from a package index here")
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def test_the_first_ten_are_those_of_locagent(tmp_path: Path) -> None:
    found = recorded = 0
    for name, release in RELEASES.items():
        (tmp_path / name).mkdir()
        tree = download(release, tmp_path / name)
        with Engine.open(tree, profile="locagent", embedder="none") as engine:
            for row in RECORDED[name]:
                hits = engine.search(row["query"], SearchOptions(limit=10, text=False)).results
                places = {f"{hit.path}:{hit.start_line}-{hit.end_line}" for hit in hits}
                found += len(places & set(row["hits"]))
                recorded += len(row["hits"])
    assert recorded > 200
    assert found / recorded >= MIN_OVERLAP

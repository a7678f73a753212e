"""Addresses of clusters, where they lead, and who may name them."""

from pathlib import Path

import pytest

from dowse import stores
from dowse.errors import SettingsError

opensearch = pytest.importorskip("dowse.stores.opensearch")


def parse(url: str) -> object:
    return opensearch.parse_address(url, 5.0)


def test_an_address_has_hosts_a_prefix_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DOWSE_STORE_USER", raising=False)
    address = opensearch.parse_address(
        "opensearch+https://ada:s%40crt@one:9201,two,[::1]:9203/team-a?ca=/etc/ca.pem&shards=6&replicas=2",
        5.0,
    )
    assert address.hosts == (("one", 9201), ("two", 9200), ("::1", 9203))
    assert (address.prefix, address.is_encrypted, address.ca_file) == ("team-a", True, "/etc/ca.pem")
    assert (address.user, address.password) == ("ada", "s@crt")
    assert (address.shards, address.replicas) == (6, 2)
    assert "crt" not in address.display_url and "crt" not in repr(address)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("opensearch+https://host", "prefix"),
        ("opensearch+https://host/A", "prefix"),
        ("opensearch+https://host/a/b", "prefix"),
        ("opensearch+https://ho:st:1/a", "no host"),
        ("opensearch+https:///a", "no host"),
        ("opensearch+https://host/a?shard=3", "unknown option 'shard'"),
        ("opensearch+https://host/a?shards=0", "shards must be a number"),
        ("opensearch+http://host/a", "not encrypted"),
        ("opensearch+http://127.0.0.1,host/a", "not encrypted"),
    ],
)
def test_what_is_wrong_with_an_address_is_said(url: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        parse(url)


def test_the_login_can_come_from_the_environment_and_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("from file\n")
    monkeypatch.setenv("DOWSE_STORE_USER", "eve")
    monkeypatch.setenv("DOWSE_STORE_PASSWORD_FILE", str(secret))
    address = opensearch.parse_address("opensearch+https://host/a", 5.0)
    assert (address.user, address.password) == ("eve", "from file")
    monkeypatch.setenv("DOWSE_STORE_PASSWORD_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match="DOWSE_STORE_PASSWORD_FILE cannot be read"):
        parse("opensearch+https://host/a")


def test_a_cluster_without_a_catalogue_is_refused() -> None:
    with pytest.raises(SettingsError, match="DOWSE_STORE_CATALOGUE"):
        stores.create("opensearch+https://host/a", None, "/tree", "one")


@pytest.mark.parametrize(
    ("url", "is_local"),
    [
        ("opensearch+http://127.0.0.1:9200/a", True),
        ("opensearch+http://localhost,[::1]:9201/a", True),
        ("opensearch+https://db.example.com/a", False),
        ("opensearch+https://localhost:9200,db.example.com:9200/a", False),
        ("postgresql://localhost:5432,db.example.com:5432/a", False),
        ("postgresql://ada:pw@localhost:5432,127.0.0.1:5433/a", True),
        ("postgresql://[::1]:5432/a", True),
        ("postgresql:///a?host=/run/postgresql", True),
    ],
)
def test_a_list_of_hosts_is_local_if_all_of_them_are(url: str, is_local: bool) -> None:
    assert stores.is_server(url)
    assert stores.is_local_server(url) is is_local


@pytest.mark.parametrize("weight", [1.0, 0.5, 0.003, 0.9])
@pytest.mark.parametrize("average", [0.02, 1.0, 37.5, 4000.0])
def test_a_weight_and_a_length_are_packed_in_one_number(weight: float, average: float) -> None:
    from dowse.stores.opensearch import index_mapping as mapping

    packed = mapping.pack_boost(weight, average)
    assert 0 <= packed < 2**24, "a float of 32 bits has it exactly"
    for part, value in zip(divmod(packed, mapping.SCALE_SIZE), (weight, average), strict=True):
        assert 2 ** ((part - mapping.SCALE_ZERO) / mapping.SCALE_STEPS) == pytest.approx(value, rel=0.003)

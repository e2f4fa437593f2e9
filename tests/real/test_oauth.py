"""OAUTHBEARER on real brokers: signed tokens that they verify, and unsecured ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.least_rights import only_not_known_electable
from tests.real import security
from tests.real.cluster import KafkaCluster
from tests.real.faults import Trouble
from tests.real.grants import CLUSTER_ALTER, READ_ALL, USER, granted
from tests.real.identity_provider import IdentityProvider
from tests.real.recipes import TOPIC
from tests.real.watching import Commands, outcomes
from tests.salvage.batches import numbered
from tests.salvage.replay.saved import salvaged

SECRET = "client-sesame"
LOOK = ("--all-offline-partitions", "--show-replica-info", "--format", "json")


@pytest.fixture
def provider(guarded: Trouble) -> IdentityProvider:
    return IdentityProvider(guarded.cluster.directory, {USER: SECRET})


@pytest.fixture
def endpoint(provider: IdentityProvider) -> Iterator[str]:
    with provider.endpoint() as url:
        yield url


def _config(directory: Path, cluster: KafkaCluster, url: str, options: str) -> str:
    settings = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "OAUTHBEARER",
        "ssl.truststore.location": str(cluster.directory / "ca.pem"),
        "sasl.login.callback.handler.class": f"{security.OAUTH}.OAuthBearerLoginCallbackHandler",
        "sasl.oauthbearer.token.endpoint.url": url,
        "sasl.jaas.config": f"{security.OAUTH_MODULE} required {options};",
    }
    path = directory / f"oauth-{len(list(directory.iterdir()))}.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return str(path)


def _credentials(cluster: KafkaCluster, secret: str = SECRET) -> str:
    trust = f'ssl.truststore.location="{cluster.directory / "ca.pem"}"'
    return f'clientId={USER} clientSecret="{secret}" scope="kafka" {trust}'


def test_the_whole_job_by_tokens_of_an_identity_provider(
    guarded: Trouble,
    commands: Commands,
    tmp_path: Path,
    provider: IdentityProvider,
    endpoint: str,
) -> None:
    cluster = guarded.cluster
    config = _config(tmp_path, cluster, endpoint, _credentials(cluster))
    partitions = guarded.take(1)
    wanted = str(commands.partitions_file({TOPIC: partitions}))
    server = ("--bootstrap-server", cluster.address(3), "--command-config", config)
    which = ("--path-to-json-file", wanted, "--automated-recovery", "--yes", "--format", "json")
    with granted(cluster, CLUSTER_ALTER, READ_ALL):
        done = commands.run(*server, *which)
        assert done.code == 0, done.stderr
        assert only_not_known_electable(done.stderr), done.stderr
        assert outcomes(done, TOPIC) == dict.fromkeys(partitions, ("elected", None))
        # One token for every connection of a run.
        assert provider.scopes == ["kafka"]
        # librdkafka is let in by such tokens too.
        saved = str(salvaged(tmp_path, {1: numbered(0, 10) + numbered(10, 5)}))
        done = commands.run("salvage", "replay", saved, *server)
        assert "orders.salvaged: no such topic" in done.stderr
        # Each login lasts as long as a token; the run goes on beyond it.
        provider.lifetime = 4.0
        waiting = ("--wait-for-brokers", "1", "--recovery-duration-ms", "7000")
        done = commands.run(*server, *LOOK, *waiting)
    assert done.code == 0, (done.stderr, done.report["problems"])
    assert len(provider.scopes) > 3
    assert done.report["problems"] == []


def test_a_token_that_is_not_taken_says_why(
    guarded: Trouble, commands: Commands, tmp_path: Path, provider: IdentityProvider, endpoint: str
) -> None:
    cluster = guarded.cluster
    token = tmp_path / "token"
    in_file = _config(tmp_path, cluster, token.as_uri(), "")
    wrong = _config(tmp_path, cluster, endpoint, _credentials(cluster, "not-the-secret"))
    server = ("--bootstrap-server", cluster.address(3), "--command-config")
    token.write_text(provider.token(USER))
    with granted(cluster, CLUSTER_ALTER, READ_ALL):
        assert commands.run(*server, in_file, *LOOK).code == 0
    refused = 'it refused our token ({"status":"invalid_token"}): check its issuer, audience'
    for config, value, says in (
        (in_file, provider.token(USER, audience="other"), refused),
        (in_file, provider.token(USER, exp=1), "its token expired"),
        (in_file, f"{provider.token(USER)[:-8]}AAAAAAAA", refused),
        (wrong, "", "it answered 401 (invalid_client): check the client id"),
    ):
        token.write_text(value)
        done = commands.run(*server, config, *LOOK)
        assert (done.code, done.stdout) == (3, "")
        assert says in done.stderr
        for secret in (SECRET, "not-the-secret", value or SECRET):
            assert secret not in done.stderr


def test_unsecured_tokens_are_taken_where_a_listener_takes_them(
    tmp_path: Path, commands: Commands
) -> None:
    prefix = "listener.name.sasl_ssl.oauthbearer.sasl"
    trusting = f"{security.OAUTH}.internals.unsecured.OAuthBearerUnsecuredValidatorCallbackHandler"
    properties = {f"{prefix}.server.callback.handler.class": trusting}
    directory = tmp_path / "cluster"
    with KafkaCluster.create(directory, brokers=1, secured=True, properties=properties) as cluster:
        cluster.start()
        for user, says in (("admin", ""), ("nobody", "hidden from this user")):
            config = tmp_path / f"{user}.properties"
            config.write_text(
                f"security.protocol=SASL_SSL\nsasl.mechanism=OAUTHBEARER\n"
                f"ssl.truststore.location={directory / 'ca.pem'}\n"
                f"sasl.jaas.config={security.OAUTH_MODULE} required "
                f'unsecuredLoginStringClaim_sub="{user}";\n'
            )
            server = ("--bootstrap-server", cluster.bootstrap_servers)
            done = commands.run(*server, "--command-config", str(config), *LOOK)
            assert (done.code, done.stderr == "") == (1 if says else 0, not says), done
            assert says in done.stderr

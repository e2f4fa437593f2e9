"""A client passes TLS and a login, as the cluster asks, before its requests are answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kafka_unclean_recovery.emulator.security.channel import Channel, Incoming, Plain, Tls
from kafka_unclean_recovery.emulator.security.rights import Rights
from kafka_unclean_recovery.emulator.security.sasl import Accounts, log_in
from kafka_unclean_recovery.emulator.security.settings import Security, principal_of, server_context


class Entrance:
    """The entrance to all listeners of a cluster. Raises OSError for unusable PEM files."""

    def __init__(self, security: Security | None = None) -> None:
        self._security = security or Security()
        tls = self._security.tls
        self._context = None if tls is None else server_context(tls)
        self._accounts = Accounts(self._security) if self._security.sasl else None

    async def channel(self, plain: Plain, incoming: Incoming) -> tuple[Channel, str]:
        """Return the channel to talk through, and TLS's principal. Raises OSError, EOFError."""
        if self._context is None:
            return plain, principal_of(None)
        tls = Tls(self._context, plain, incoming)
        return tls, principal_of(await tls.shake_hands())

    async def rights(
        self,
        channel: Channel,
        principal: str,
        answer: Callable[[bytes], Awaitable[bytes | None]],
    ) -> Rights:
        """Return the client's rights, after a login where one is asked for; see `sasl.log_in`."""
        if self._accounts is not None:
            principal = await log_in(channel, self._accounts, answer)
        return self._security.rights_of(principal)

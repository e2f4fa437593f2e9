"""What brokers, and one admin request, say to the controller: keys 56, 62, 63, 64 and 73.

Offsets and epochs are int64, a uuid of zeros reads as None.
"""

from __future__ import annotations

from kafka.protocol.api_message import ApiMessage

from tests import controller_messages


class AlterPartitionRequest(ApiMessage, load_json=controller_messages):
    """The ISR that the leader of a partition wants."""


class AlterPartitionResponse(ApiMessage, load_json=controller_messages):
    """The partitions after it, each as it is or with an error."""


class BrokerRegistrationRequest(ApiMessage, load_json=controller_messages):
    """A broker starts."""


class BrokerRegistrationResponse(ApiMessage, load_json=controller_messages):
    """The epoch that it gets."""


class BrokerHeartbeatRequest(ApiMessage, load_json=controller_messages):
    """A broker lives, and wants to be unfenced, fenced or shut down."""


class BrokerHeartbeatResponse(ApiMessage, load_json=controller_messages):
    """Whether it is fenced, and whether it may go."""


class AssignReplicasToDirsRequest(ApiMessage, load_json=controller_messages):
    """Where a broker has put its replicas."""


class AssignReplicasToDirsResponse(ApiMessage, load_json=controller_messages):
    """Each replica with an error, or none."""


class UnregisterBrokerRequest(ApiMessage, load_json=controller_messages):
    """An admin has a broker forgotten."""


class UnregisterBrokerResponse(ApiMessage, load_json=controller_messages):
    """Whether that was done."""

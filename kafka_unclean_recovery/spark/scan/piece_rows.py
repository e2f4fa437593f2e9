"""Pieces of replicas, and what was found in them, are written as JSON that a table can hold."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from kafka_unclean_recovery.log_dir.pieces import Piece, PieceResult
from kafka_unclean_recovery.log_dir.replica_files import Segment
from kafka_unclean_recovery.log_dir.segments.batches import Reason
from kafka_unclean_recovery.log_dir.segments.walk import End


def piece_text(piece: Piece) -> str:
    return json.dumps(asdict(piece))


def piece_of(text: str) -> Piece:
    """Return the piece that piece_text was given."""
    return _piece(json.loads(text))


def result_text(result: PieceResult) -> str:
    return json.dumps(asdict(result))


def result_of(text: str) -> PieceResult:
    """Return the result that result_text was given."""
    document = json.loads(text)
    ended = document["ended"]
    return PieceResult(
        piece=_piece(document["piece"]),
        compacted=document["compacted"],
        first=document["first"],
        runs=tuple(tuple(run) for run in document["runs"]),
        ended=End(ended["position"], Reason(ended["reason"]), ended["detail"]),
        doubtful=document["doubtful"],
    )


def _piece(document: dict[str, Any]) -> Piece:
    return Piece(Segment(**document["segment"]), document["start"], document["end"])

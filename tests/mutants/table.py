"""Which tests hold a module, the quickest first; the slow ones run on what the others let live."""

from __future__ import annotations

from dataclasses import dataclass

_RULES = (
    "tests/planning/test_plan.py",
    "tests/planning/test_election_rules.py",
    "tests/planning/test_loss_limits.py",
)
_PURE = (*_RULES, "tests/planning/test_broker_return.py", "tests/planning/test_offline_plan.py")
_RUNS = (
    "tests/transport/test_designated_elector.py",
    "tests/transport/test_settling.py",
    "tests/transport/test_left_out.py",
)
_JOURNALED = "tests/transport/test_honest_elections.py"
_HONEST = f"{_JOURNALED} -k not(whatever_line)and(not(fills_up))"
_STEPS = "test_a_designated_election_is_one_step_and_a_reorder_is_put_back"
_MISSION = (
    f"tests/transport/test_on_the_emulator.py::{_STEPS}",
    "tests/mission/test_led_meanwhile.py",
    "tests/mission/test_faults.py",
    "tests/mission/test_faults_of_a_designation.py",
)
_PROBES = ("tests/transport/test_lineage_probe.py", "tests/transport/test_left_out.py")
_NO_BROKER = "tests/mission/test_no_single_broker.py"
_CODEC = (
    "tests/documents/test_codec.py",
    "tests/test_schemas.py",
    "tests/documents/test_golden.py",
    "tests/documents/test_plan_reading.py",
    "tests/documents/test_hostile_files.py",
)
_SIGNALS = "tests/mission/test_dead_readers.py -k second_signal"
# Left out: tests/mission/test_quorum.py, which waits for requests given up.


@dataclass(frozen=True, slots=True)
class Held:
    """slow: each by itself, with arguments of pytest behind blanks. functions: of the module; all
    when empty."""

    quick: tuple[str, ...]
    slow: tuple[str, ...] = ()
    functions: frozenset[str] = frozenset()


_JOURNAL_OF = "journal_of _incomplete _finish_others _same finish _settle _check_cluster"
_SESSION = frozenset((_JOURNAL_OF + " warn_of_unfinished own_state_directory _linked").split())

_CONTROLLER = (
    "tests/kraft_rules/test_machine.py",
    "tests/kraft_rules/test_transcripts.py",
    "tests/kraft_rules/test_invariants.py",
)
_MAY_STOP = (
    "tests/ok_to_stop/test_answer.py",
    "tests/ok_to_stop/test_prediction.py",
    "tests/ok_to_stop/test_margins.py",
    "tests/ok_to_stop/test_random_states.py",
)
_COPIES = (
    "tests/metadata_quorum/test_compared_copies.py",
    "tests/metadata_quorum/test_histories.py",
    "tests/metadata_quorum/test_refusals.py",
    "tests/metadata_quorum/test_seed.py",
    "tests/metadata_quorum/test_proof.py",
    "tests/metadata_quorum/test_put_aside.py",
    "tests/metadata_quorum/test_live.py",
    "tests/metadata_quorum/test_led.py",
)

HELD = {
    "planning/plan": Held(_PURE),
    "planning/reach": Held((*_PURE, "tests/documents/test_replica_info.py")),
    "planning/lineage": Held(_PURE),
    "planning/election_rules": Held(
        (*_RULES, "tests/planning/test_waves.py"), (_HONEST, *_MISSION)
    ),
    "planning/loss_limits": Held(
        ("tests/planning/test_loss_limits.py",), ("tests/mission/test_consent.py",)
    ),
    "planning/waves": Held(("tests/planning/test_waves.py",), (_HONEST,)),
    "recovery/consent": Held(
        ("tests/recovery/test_consent.py",), ("tests/mission/test_consent.py",)
    ),
    **dict.fromkeys(
        ("files/journal", "documents/journal_lines", "files/state_directory"),
        Held(
            (
                "tests/files/test_journal.py",
                "tests/transport/test_settling.py",
                "tests/documents/test_hostile_files.py",
            ),
            (_JOURNALED, "tests/mission/test_state_directory.py"),
        ),
    ),
    "recovery/recover": Held(
        ("tests/recovery/test_recover.py", "tests/mission/test_consent.py"),
        (_HONEST, "tests/mission/test_led_meanwhile.py"),
    ),
    "recovery/partitions": Held(
        ("tests/recovery/test_partitions.py", "tests/recovery/test_recover.py"),
        ("tests/mission/test_consent.py",),
    ),
    "documents/reading/codec": Held(_CODEC),
    "documents/reading/json_values": Held(_CODEC),
    "documents/plan": Held(
        (*_CODEC, "tests/documents/test_plan_file.py", "tests/documents/test_plan_reading.py")
    ),
    "documents/replica_info": Held((*_CODEC, "tests/documents/test_replica_info.py")),
    "transport/electing": Held(_RUNS, (_HONEST, *_MISSION)),
    "transport/reorder_elector": Held((), (_HONEST, *_MISSION)),
    "transport/replica_order": Held(
        ("tests/transport/test_replica_order.py",), (_HONEST, *_MISSION)
    ),
    "transport/observe_again": Held(_RUNS, (_HONEST, *_MISSION)),
    "transport/wave_elector": Held(("tests/transport/test_wave_elector.py",)),
    "transport/designated_elector": Held(_RUNS, _MISSION),
    "transport/sending": Held(_RUNS, (_JOURNALED,)),
    "transport/lineage_probe": Held(_PROBES),
    "transport/list_offsets": Held(_PROBES, _MISSION),
    "transport/read_lineages": Held(_PROBES, _MISSION),
    "cluster/controller": Held(_RUNS, (_HONEST, _NO_BROKER)),
    "cluster/requests/asking": Held(("tests/cluster/test_asking.py", *_PROBES)),
    "cluster/requests/controller_requests": Held(_RUNS, (_HONEST, *_MISSION)),
    "cli/session": Held(
        ("tests/transport/test_settling.py",),
        (_JOURNALED, "tests/mission/test_state_directory.py", _NO_BROKER, _SIGNALS),
        _SESSION,
    ),
    **dict.fromkeys(
        (
            *("kraft_rules/elections", "kraft_rules/partition_change", "kraft_rules/heartbeats"),
            *("kraft_rules/partition_updates", "kraft_rules/reassignments"),
            *("kraft_rules/registrations", "kraft_rules/unclean_recovery"),
            *("kraft_rules/alter_partition", "kraft_rules/log_dirs", "kraft_rules/recovery"),
        ),
        Held(_CONTROLLER, ("tests/emulator/test_recoveries.py",)),
    ),
    **dict.fromkeys(
        (
            *("ok_to_stop/answer", "ok_to_stop/prediction", "ok_to_stop/controller_state"),
            *("ok_to_stop/margins", "ok_to_stop/observed"),
        ),
        Held(_MAY_STOP, ("tests/ok_to_stop/test_command.py", "tests/ok_to_stop/test_watch.py")),
    ),
    **dict.fromkeys(
        (
            *("metadata_quorum/compared_copies", "metadata_quorum/refusals"),
            *("metadata_quorum/best_copy", "metadata_quorum/stuck", "metadata_quorum/still_led"),
            *("metadata_quorum/proof", "metadata_quorum/put_aside", "metadata_quorum/seed"),
        ),
        Held(_COPIES),
    ),
}

"""Which tests run when: the table of groups.

`--releases each`, as `make test` has it, runs every rule and every story once, on one release, plus
the shortest story of each wing on every other release; `rest` runs all the others; `all`, the
default, runs everything; `one` leaves out those whose parameters name a release, which are the same
whatever the one release is. That is the newest, or KAFKA_RELEASE.

A pattern is a file below tests/, or `file::function`; with `[word` after it those whose parameters
contain the word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache

from tests.real.releases import ONE, READ_ONLY, TESTED

EACH, REST, ONE_RELEASE, ALL = "each", "rest", "one", "all"
_HEADERS = ("group", "files", "each run has on the other releases too", "for all alone, and why")
_RELEASE = re.compile("|".join(map(re.escape, (*TESTED, READ_ONLY))))


@dataclass(frozen=True, slots=True)
class Test:
    """A test as pytest collected it. path: below tests/. parameters: their ids. real: it runs on
    real Kafka. named: the release that its parameters tell."""

    path: str
    function: str
    parameters: str
    real: bool
    named: str | None = None

    __test__ = False

    @property
    def release(self) -> str:
        """Return the release of Kafka that it runs on, if it does."""
        return self.named or ONE

    @property
    def whole_function(self) -> str:
        return f"{self.path}::{self.function}"


@dataclass(frozen=True, slots=True)
class Group:
    """older: what each run has on every other tested release, too. later: what `all` alone runs, by
    pattern, each with the reason why it can wait."""

    name: str
    files: tuple[str, ...]
    older: tuple[str, ...] = ()
    later: Mapping[str, str] = field(default_factory=dict)


_STEPS = "fidelity/test_fidelity.py::test_after_every_step_our_controller_is_where_the_real_one_is["
_SCRIPTS = "real/test_scripts_on_the_emulator.py"
_STALE_TAIL = "test_the_leader_of_the_stale_tail_loses_what_it_wrote_alone"
_BY_OTHERS = "those that use it in each run would not pass without it"
_ON_PROCESSES = "each run has it on processes"
_A_STORY_EACH = "groups and elections have a story each"
_A_TENTH = "a tenth is tried each time"
# The emulator as an older release.
_OLDER = ("4.3.1", "3.9.1")
_AS_THE_NEWEST = "as the newest release each time; what differs by release has tests of its own"

GROUPS = (
    Group(
        "look and recover",
        (
            "real/test_examples.py",
            "real/test_kip_system_test.py",
            "real/test_manual_recovery.py",
            "real/test_recovers_the_best_replica.py",
            "real/test_replica_info_is_the_truth.py",
            "real/test_stale_tail.py",
            "real/test_wait_for_brokers.py",
            "real/test_waves.py",
            "real/test_who_answers.py",
        ),
        # How a broker proves who it is differs by release.
        older=("real/test_stale_tail.py", "real/test_who_answers.py"),
    ),
    Group(
        "the clusters themselves, logins, quotas",
        (
            "real/test_archives_made_anew.py",
            "real/test_formatting.py",
            "real/test_harness.py",
            "real/test_in_process.py",
            "real/test_key_stores.py",
            "real/test_oauth.py",
            "real/test_quotas.py",
        ),
        later={
            "real/test_archives_made_anew.py": (
                "making them takes minutes, which is why they are in the repository; their names"
                " tell in each run whether they are of today's recipes"
            ),
            "real/test_harness.py::test_a_secured_cluster_admits_its_users": (
                "each login does the whole job in each run (containers/test_secured.py)"
            ),
            "real/test_harness.py::test_brokers_die_and_come_back": _BY_OTHERS,
            "real/test_harness.py::test_controllers_tell_who_is_fenced_once_no_broker_lives": (
                "only random starts (tests/real/whole_starts.py) come this way"
            ),
            "real/test_harness.py::test_brokers_3_and_4_are_the_last_replicas_standing": _BY_OTHERS,
            "real/test_harness.py::test_the_longest_log_has_a_stale_tail": _BY_OTHERS,
            "real/test_quotas.py[bytes": "the quota on requests is in each run",
        },
    ),
    Group(
        "faults during a recovery",
        ("real/test_faults_*.py",),
        later={
            "real/test_faults_quorum.py::test_a_ghost_is_waited_out_and_read_back[125": (
                "the same with a wait of 50 s is in each run"
            ),
            **{
                "real/test_faults_rights.py::"
                f"test_alter_and_read_are_enough_for_the_whole_job[{login}": (
                    "containers/test_secured.py has it by each login"
                )
                for login in ("PLAIN", "MTLS")
            },
        },
    ),
    Group(
        "quorum",
        (
            *("metadata_quorum/*", "real/test_lost_quorum*.py"),
            *("real/test_quorum_seeds.py", "real/test_seeds_by_kafkas_controller.py"),
            "real/test_stuck_quorum.py",
        ),
        older=("real/test_lost_quorum_of_one.py",),
        later={
            "real/test_lost_quorum_odd.py": "clusters with a past that few have",
            "real/test_lost_quorum_static.py": (
                "voters in the configuration are in each run with a survivor"
                " (real/test_lost_quorum_survivors.py) and with one controller"
                " (real/test_lost_quorum_of_one.py)"
            ),
            "real/test_lost_quorum_survivors.py::test_the_last_of_three_combined_nodes": (
                "the survivors of three nodes apart are in each run"
            ),
            "real/test_lost_quorum_survivors.py::test_two_of_five": (
                "of three controllers one or two survive in each run"
            ),
        },
    ),
    Group(
        "disks and salvage",
        (
            "real/test_cluster_metadata.py",
            "real/test_deleted_records.py",
            "real/test_emptied_logs.py",
            "real/test_emulated_disks.py",
            "real/test_old_message_formats.py",
            "real/test_online_salvage.py",
            "real/test_plan_from_disks.py",
            "real/test_salvage*.py",
            "real/test_scan_real_directories.py",
            "salvage/*",
        ),
        older=("real/test_plan_from_disks.py[stale-tail",),
    ),
    Group(
        "start-order",
        ("start_order/*", "real/test_start_order.py"),
    ),
    Group(
        "before-start",
        ("before_start/*", "real/test_before_start*.py", "real/test_whole_starts.py"),
        older=(f"real/test_before_start_outages.py::{_STALE_TAIL}",),
        later={
            "real/test_whole_starts.py": (
                "a round takes a minute; the random disks of fidelity are in each run"
            ),
            "real/test_before_start_outages.py::"
            "test_of_each_of_24_orders_what_the_dead_brokers_lose": (
                "the order that loses most is in each run, on each release"
            ),
            **{
                f"real/test_before_start_refusals.py::{test}": (
                    "Kafka's own classes tell in each run what ends a start (fidelity)"
                )
                for test in (
                    "test_a_directory_that_is_no_replicas",
                    "test_two_of_its_directories_with_one_replica_or_one_directory_id",
                )
            },
        },
    ),
    Group(
        "ok-to-stop",
        ("ok_to_stop/*", "real/test_ok_to_stop.py"),
        older=("ok_to_stop/test_random_states.py",),
    ),
    Group(
        "aftercare",
        ("aftercare/*", "real/test_aftercare*.py", "real/test_gone_disks.py"),
        older=("real/test_aftercare.py::test_what_the_election_left_is_found",),
    ),
    Group(
        "our controller and real ones",
        ("fidelity/*",),
        older=(f"{_STEPS}-500 steps",),
        later={f"{_STEPS}-15000 steps": "5,000 steps on one release find what is grossly wrong"},
    ),
    Group(
        "Kafka's scripts on the emulator",
        ("real/test_scripts_on_the_emulator.py",),
        later={
            f"{_SCRIPTS}::test_brokers_log_directories_and_the_quorum": _A_STORY_EACH,
            f"{_SCRIPTS}::test_topics_configs_and_reassignments": (
                "thirty JVMs take a minute; records, groups and elections are in each run"
            ),
            f"{_SCRIPTS}::test_scripts_show_and_move_nothing_of_partitions_without_a_leader": (
                _A_STORY_EACH
            ),
        },
    ),
    Group(
        "the one file",
        ("real/test_binary.py",),
        later={
            "real/test_binary.py::test_built_once_more_elsewhere_it_has_the_same_bytes": (
                "a second build takes a minute of a core, and what it reads changes seldom"
            ),
        },
    ),
    Group(
        "chaos",
        ("chaos/*",),
        later={
            f"chaos/test_chaos.py[{seed}]": "three seeds are a sample"
            for seed in (463, 702, 816, 824, 825)
        },
    ),
    Group(
        "simulation",
        ("simulation/*",),
    ),
    Group(
        "Spark",
        ("spark/*",),
        later={
            "spark/test_cluster.py::test_a_worker_is_killed_in_mid_job": (
                "that a lost task is tried again is Spark's own work, and takes long"
            ),
            "spark/test_cluster.py::test_executors_without_pyarrow_are_named": (
                "test_failures.py asks for a module that is missing in a session of its own"
            ),
            "spark/test_mounts.py::test_workers_that_lack_mounts_find_what_one_process_finds": (
                "a cluster of its own; the tasks and the census are tried without one"
            ),
            "spark/test_kills.py": "each of its 30 kills costs 10 to 20 s",
            "spark/test_cluster.py::test_a_local_cluster_finds_what_one_process_finds": (
                "another way to the same work, which starts two executors"
            ),
            **{
                f"spark/test_cluster.py::{test}": "another way to the same work, by a server"
                for test in (
                    "test_over_spark_connect",
                    "test_salvage_and_plan_over_spark_connect",
                )
            },
        },
    ),
    Group(
        "log directories",
        ("log_dir/*",),
        later={
            "log_dir/test_corruption.py[the rest": _A_TENTH,
            "log_dir/test_hostile_tree.py[100000": _A_TENTH,
        },
    ),
    Group(
        "model check",
        ("model_check/*",),
        later={
            "model_check/test_model_check.py::test_all_invariants_hold_in_every_state[4 brokers": (
                "three brokers have the same steps, and four take most of the time"
            )
        },
    ),
    Group(
        "the mission on the emulator",
        ("mission/*",),
        later={
            f"mission/test_{file}.py[{release}": _AS_THE_NEWEST
            for file, releases in (
                ("given_up", _OLDER),
                ("outages", _OLDER),
                ("port_forward", ("3.9.1",)),
                ("unregistered", ("4.3.1",)),
            )
            for release in releases
        }
        | {
            f"mission/{file}.py[1200": (
                "an outage of so many takes minutes; those of 400 are in each run"
            )
            for file in ("test_screens", "test_every_screen")
        },
    ),
    Group(
        "containers",
        ("containers/*",),
        later={
            "containers/test_outages.py::"
            "test_broker_3_leads_every_partition_and_no_record_of_it_is_lost": _ON_PROCESSES,
            "containers/test_outages.py::test_the_system_test_of_the_kip": _ON_PROCESSES,
            "containers/test_image.py::test_its_file_is_loaded_elsewhere_and_is_the_tool": (
                "saving and loading an image takes a minute; the image itself is in each run"
                " (containers/test_secured.py)"
            ),
        },
    ),
    Group(
        "rules and all other",
        (
            "test_*.py",
            *("bundle/*", "cli/*", "cluster/*", "doctor/*", "documents/*", "emulator/*"),
            *("examples/*", "real/test_bundle.py", "real/test_way.py"),
            *(
                "files/*",
                "hostile/*",
                "kraft_rules/*",
                "messages/*",
                "mutants/*",
                "planning/*",
                "post_mortem/*",
                "recovery/*",
                "report/*",
            ),
            *("stores/*", "survey/*", "transport/*"),
        ),
        later={
            **{f"emulator/test_outage.py[{release}": _AS_THE_NEWEST for release in _OLDER},
            "test_site.py::test_no_page_is_wider_than_the_screen_or_loads_anything_from_elsewhere"
            "[390-*/**": "the hundred pages of findings are made by one template, of text alone",
            "test_runs.py::test_together_the_same_tests_are_collected_as_of_each_directory_alone": (
                "forty collections take a minute; each run sees to it that each test is in a group"
            ),
        },
    ),
)


def group_of(test: Test, groups: Sequence[Group] = GROUPS) -> Group:
    (found,) = groups_of(test, groups)
    return found


def groups_of(test: Test, groups: Iterable[Group] = GROUPS) -> list[Group]:
    """Return the groups of a test: one, as tests/test_runs.py sees to."""
    return [group for group in groups if any(has(glob, test.path) for glob in group.files)]


@cache
def has(glob: str, path: str) -> bool:
    # A star of fnmatch goes through directories, which only one at the end may.
    return fnmatchcase(path, glob) and (glob.endswith("/*") or glob.count("/") == path.count("/"))


def matches(pattern: str, test: Test) -> bool:
    where, _, word = pattern.partition("[")
    path, _, function = where.partition("::")
    return path == test.path and function in ("", test.function) and word in test.parameters


def runs(test: Test, releases: str) -> bool:
    """Return whether a run with `--releases` like this has it."""
    if releases == ALL:
        return True
    if releases == ONE_RELEASE:
        return test.named is None
    on_one = not test.real or test.release == ONE
    # A new test may be in no group yet, which tests/test_runs.py tells: it runs.
    in_each = all(_in_each_run(test, on_one, group) for group in groups_of(test))
    return in_each is (releases == EACH)


def _in_each_run(test: Test, on_one: bool, group: Group) -> bool:
    if any(matches(pattern, test) for pattern in group.later):
        return False
    of_a_wing = any(matches(pattern, test) for pattern in group.older)
    return on_one or (of_a_wing and test.release in TESTED)


def release_in(texts: Iterable[str]) -> str | None:
    """Return the one release that these tell, which are the ids and the reprs of a test's
    parameters."""
    found = {release for text in texts for release in _RELEASE.findall(text)}
    return found.pop() if len(found) == 1 else None


def table(groups: Iterable[Group] = GROUPS) -> str:
    """Return the table as docs/development.md shows it."""
    lines = [_HEADERS, ("---",) * len(_HEADERS), *map(_row, groups)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _row(group: Group) -> tuple[str, ...]:
    later: dict[str, list[str]] = {}
    for pattern, why in group.later.items():
        later.setdefault(why, []).append(pattern)
    waiting = "; ".join(f"{_code(patterns)}: {why}" for why, patterns in later.items())
    return (group.name, _code(group.files), _code(group.older), waiting)


def _code(patterns: Iterable[str]) -> str:
    return ", ".join(f"`{pattern}`" for pattern in patterns)

_kafka_unclean_recovery__reply() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do COMPREPLY+=("$word"); done
}
_kafka_unclean_recovery__ask() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        case $word in *[!a-zA-Z0-9._,-]*) ;; *) COMPREPLY+=("$word") ;; esac
    done < <("$1" complete "$2" -- "${COMP_LINE:0:COMP_POINT}" < /dev/null 2> /dev/null)
}
_kafka_unclean_recovery__journals() {
    local kept=${XDG_STATE_HOME:-~/.local/state}/kafka-unclean-recovery
    _kafka_unclean_recovery__reply < <(compgen -f -- "$1"; [[ $1 ]] || compgen -G "$kept/*/*.jsonl")
}
_kafka_unclean_recovery_scan_log_dirs() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --mode) _kafka_unclean_recovery__reply < <(compgen -W "fast recover deep" -- "$cur"); return ;;
        --workers) COMPREPLY=(); return ;;
        --output) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --topics) COMPREPLY=(); return ;;
        --path-to-json-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --metrics-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--mode --workers --output --format --topics --path-to-json-file --metrics-file --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_plan() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --manual-recovery-output-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --replica-info-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-dirs) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --mode) _kafka_unclean_recovery__reply < <(compgen -W "fast recover deep" -- "$cur"); return ;;
        --exclude-brokers) COMPREPLY=(); return ;;
        --plan-output-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --topics) COMPREPLY=(); return ;;
        --path-to-json-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --metrics-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--manual-recovery-output-file --replica-info-file --log-dirs --mode --exclude-brokers --plan-output-file --format --topics --path-to-json-file --metrics-file --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_doctor() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --timeout-ms) COMPREPLY=(); return ;;
        --salvage-dir) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --transport) _kafka_unclean_recovery__reply < <(compgen -W "auto replica-log-info list-offsets" -- "$cur"); return ;;
        --election-method) _kafka_unclean_recovery__reply < <(compgen -W "auto designated reorder" -- "$cur"); return ;;
        --replica-log-info-dialect) _kafka_unclean_recovery__reply < <(compgen -W "kip-966 reverted kip-1275" -- "$cur"); return ;;
        --metrics-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--bootstrap-server --command-config --format --timeout-ms --salvage-dir --transport --election-method --replica-log-info-dialect --metrics-file --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_ok_to_stop() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --brokers) _kafka_unclean_recovery__ask "$1" brokers; return ;;
        --rack) _kafka_unclean_recovery__ask "$1" racks; return ;;
        --controllers) COMPREPLY=(); return ;;
        --margin) COMPREPLY=(); return ;;
        --max) COMPREPLY=(); return ;;
        --wait-ms) COMPREPLY=(); return ;;
        --save) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --what-if) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --metrics-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--bootstrap-server --command-config --brokers --rack --controllers --margin --max --wait-ms --after --save --what-if --format --metrics-file --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_watch() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --interval-ms) COMPREPLY=(); return ;;
        --duration-ms) COMPREPLY=(); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --metrics-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--bootstrap-server --command-config --interval-ms --duration-ms --format --metrics-file --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_explain() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -W "live_records_truncated longer_log_lost_to_newer_epoch committed_records_lost high_watermark_beyond_log_end designated_leader_is_empty log_given_up eligible_replica_fell_short leads_by_itself_and_cuts dead_disk_holds_more suspect_log commits_beyond_the_best_log dead_replica_may_hold_more dead_replica_unseen disk_is_lost dead_disk_not_sure disk_not_readable fast_scan_only newer_than_the_metadata not_in_newest_metadata replica_in_two_directories replica_scanned_twice emptied_log_ends_further replica_did_not_answer replica_unregistered replica_lives_unseen replica_unproven replica_fenced replica_not_ranked reassignment_in_progress reassignment_ended tiered_topic eligible_replica_is_back records_below_log_start damaged_log not_assigned stray_directory tie designated_by_hand quorum_not_lost quorum_lives lost_controller_answers lost_controller_unreachable lost_controller_taken_for_gone quorum_not_told lost_controller_not_asked metadata_of_two_clusters metadata_of_two_histories metadata_copies_not_compared metadata_copy_not_loadable metadata_without_brokers cluster_id_not_known quorum_state_not_read metadata_copies_diverge metadata_copy_damaged metadata_copy_not_seen metadata_copy_not_read data_not_all_read metadata_copy_left_out metadata_behind_data metadata_gap_not_known metadata_tail_given_up metadata_transaction_open replicas_put_aside quorum_release_not_tried new_controller_refused no_designated_leader brokers_answer broker_unreachable who_answered no_live_broker bootstrap_unreachable bootstrap_of_another_cluster fenced_not_told metadata_old broker_down broker_stopped_reading_metadata releases metadata_version elr release_not_tried known_election_bug request_not_understood mechanism quorum clock_controller clock_brokers offline_partitions led_on_return led_unseen dead_leaders reassignments unclean_elections right_cluster_describe right_cluster_alter right_topic_describe right_topic_read right_replica_log_info right_topic_write hidden_topics journal_unreadable unfinished_journal room_journal room_salvage log_directories log_directory_failed log_directory_full lossless better no_better worse unknown elected already_online no_candidate refused failed" -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--format --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_approve() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --output) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--output --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_aftercare() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --journal) _kafka_unclean_recovery__journals "$cur"; return ;;
        --topics) _kafka_unclean_recovery__ask "$1" topics; return ;;
        --path-to-json-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-dirs) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --replica-info-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --gone) _kafka_unclean_recovery__ask "$1" down-brokers; return ;;
        --watch-duration-ms) COMPREPLY=(); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --metrics-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--bootstrap-server --command-config --journal --last --topics --path-to-json-file --log-dirs --replica-info-file --gone --end-transactions --reset-share-groups --watch --watch-duration-ms --format --metrics-file --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_before_start() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --log-dirs) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --replica-info-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --gone) _kafka_unclean_recovery__ask "$1" down-brokers; return ;;
        --journal) _kafka_unclean_recovery__journals "$cur"; return ;;
        --plan-output-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --commands-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --topics) _kafka_unclean_recovery__ask "$1" topics; return ;;
        --path-to-json-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --metrics-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--log-dirs --bootstrap-server --command-config --replica-info-file --gone --journal --plan-output-file --commands-file --format --topics --path-to-json-file --metrics-file --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_start_order() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --bootstrap-controller) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --replica-info-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-dirs) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --gone) _kafka_unclean_recovery__ask "$1" down-brokers; return ;;
        --later) _kafka_unclean_recovery__ask "$1" down-brokers; return ;;
        --elections-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--bootstrap-server --bootstrap-controller --command-config --replica-info-file --log-dirs --gone --later --elections-file --format --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_bundle() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --output) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --replica-info-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --recovery-duration-ms) COMPREPLY=(); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--output --bootstrap-server --command-config --replica-info-file --mask-names --recovery-duration-ms --format --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_report() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --copy) _kafka_unclean_recovery__journals "$cur"; return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "markdown html json" -- "$cur"); return ;;
        --output) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --gone) COMPREPLY=(); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__journals "$cur"; return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--last --copy --markdown --html --json --format --output --gone --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_salvage_replay() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --topics) _kafka_unclean_recovery__ask "$1" topics; return ;;
        --path-to-json-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --target) COMPREPLY=(); return ;;
        --checkpoint) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --journal) _kafka_unclean_recovery__journals "$cur"; return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--bootstrap-server --command-config --topics --path-to-json-file --target --include-open --checkpoint --journal --execute --format --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_salvage_offsets() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --group) COMPREPLY=(); return ;;
        --journal) _kafka_unclean_recovery__journals "$cur"; return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--bootstrap-server --command-config --group --backwards --without-epoch --journal --plan --execute --yes --format --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_salvage() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    if ((COMP_CWORD > 2)); then case "${COMP_WORDS[2]}" in
        replay) _kafka_unclean_recovery_salvage_replay "$@"; return ;;
        offsets) _kafka_unclean_recovery_salvage_offsets "$@"; return ;;
    esac; fi
    case "$prev" in
        --log-dirs) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --replica-info-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --plan) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --journal) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --output) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --manual-recovery-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --topics) COMPREPLY=(); return ;;
        --path-to-json-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    local commands=""; ((COMP_CWORD > 2)) || commands="replay offsets"
    _kafka_unclean_recovery__reply < <(compgen -W "$commands --log-dirs --replica-info-file --plan --journal --output --manual-recovery-file --raw-only --format --topics --path-to-json-file --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_spark_scan() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --output) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --roots-table) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --leave-out) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --mode) _kafka_unclean_recovery__reply < <(compgen -W "fast recover deep" -- "$cur"); return ;;
        --topics) COMPREPLY=(); return ;;
        --path-to-json-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --store-endpoint) COMPREPLY=(); return ;;
        --store-region) COMPREPLY=(); return ;;
        --master) COMPREPLY=(); return ;;
        --conf) COMPREPLY=(); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--output --roots-table --leave-out --rescan --mode --topics --path-to-json-file --store-endpoint --store-region --master --conf --format --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_spark_plan() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --summaries) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --manual-recovery-output-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --plan-output-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --exclude-brokers) COMPREPLY=(); return ;;
        --store-endpoint) COMPREPLY=(); return ;;
        --store-region) COMPREPLY=(); return ;;
        --html) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --master) COMPREPLY=(); return ;;
        --conf) COMPREPLY=(); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--summaries --manual-recovery-output-file --plan-output-file --exclude-brokers --store-endpoint --store-region --html --format --master --conf --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_spark_salvage() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --summaries) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --plan) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --output) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --manual-recovery-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --topics) COMPREPLY=(); return ;;
        --path-to-json-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --store-endpoint) COMPREPLY=(); return ;;
        --store-region) COMPREPLY=(); return ;;
        --master) COMPREPLY=(); return ;;
        --conf) COMPREPLY=(); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--summaries --plan --output --manual-recovery-file --raw-only --topics --path-to-json-file --store-endpoint --store-region --master --conf --format --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_spark() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    if ((COMP_CWORD > 2)); then case "${COMP_WORDS[2]}" in
        scan) _kafka_unclean_recovery_spark_scan "$@"; return ;;
        plan) _kafka_unclean_recovery_spark_plan "$@"; return ;;
        salvage) _kafka_unclean_recovery_spark_salvage "$@"; return ;;
    esac; fi
    case "$prev" in
    esac
    local commands=""; ((COMP_CWORD > 2)) || commands="scan plan salvage"
    _kafka_unclean_recovery__reply < <(compgen -W "$commands --help" -- "$cur")
}
_kafka_unclean_recovery_quorum_inspect() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --replica-info-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--replica-info-file --bootstrap-server --command-config --format --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_quorum_plan() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --new-controller) COMPREPLY=(); return ;;
        --plan-output-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --lost-controllers) COMPREPLY=(); return ;;
        --without-copies-of) COMPREPLY=(); return ;;
        --unreachable-controllers) COMPREPLY=(); return ;;
        --controller-quorum-voters) COMPREPLY=(); return ;;
        --controller-listener-name) COMPREPLY=(); return ;;
        --cluster-id) COMPREPLY=(); return ;;
        --untried-metadata-version) COMPREPLY=(); return ;;
        --replica-info-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--new-controller --plan-output-file --lost-controllers --without-copies-of --unreachable-controllers --controller-quorum-voters --controller-listener-name --cluster-id --untried-metadata-version --replica-info-file --bootstrap-server --command-config --format --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_quorum_seed() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --plan) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --output-dir) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --require-approval) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --journal) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--plan --output-dir --require-approval --yes --journal --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_quorum_verify() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --plan) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --bootstrap-controller) COMPREPLY=(); return ;;
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --controller-command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-dirs) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --timeout-ms) COMPREPLY=(); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_unclean_recovery__reply < <(compgen -W "--plan --bootstrap-controller --bootstrap-server --command-config --controller-command-config --log-dirs --timeout-ms --format --cluster --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_quorum() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    if ((COMP_CWORD > 2)); then case "${COMP_WORDS[2]}" in
        inspect) _kafka_unclean_recovery_quorum_inspect "$@"; return ;;
        plan) _kafka_unclean_recovery_quorum_plan "$@"; return ;;
        seed) _kafka_unclean_recovery_quorum_seed "$@"; return ;;
        verify) _kafka_unclean_recovery_quorum_verify "$@"; return ;;
    esac; fi
    case "$prev" in
    esac
    local commands=""; ((COMP_CWORD > 2)) || commands="inspect plan seed verify"
    _kafka_unclean_recovery__reply < <(compgen -W "$commands --help" -- "$cur")
}
_kafka_unclean_recovery_emulator_scenarios() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -W "last-replica-standing lost-answer parted-leader power-cut stale-tail" -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--format --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_emulator_ctl() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --data-dir) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --socket) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    if [[ "$cur" != -* ]]; then _kafka_unclean_recovery__reply < <(compgen -W "create-topic delete-topic alter-configs alter-broker-configs produce share-group elect-leaders reassign kill power-off stop drain start pause resume unregister-broker fence unfence flush lose-disk wipe exchange-disk corrupt-disk drop-link delay-link restore-link restore-links lag lag-metadata lead-astray unlist list-again intercept clear-intercepts wait-until status metrics help" -- "$cur"); return; fi
    _kafka_unclean_recovery__reply < <(compgen -W "--data-dir --socket --format --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery_emulator() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    if ((COMP_CWORD > 2)); then case "${COMP_WORDS[2]}" in
        scenarios) _kafka_unclean_recovery_emulator_scenarios "$@"; return ;;
        ctl) _kafka_unclean_recovery_emulator_ctl "$@"; return ;;
    esac; fi
    case "$prev" in
        --brokers) COMPREPLY=(); return ;;
        --log-directories) COMPREPLY=(); return ;;
        --from-bundle) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --scenario) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --data-dir) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --release) _kafka_unclean_recovery__reply < <(compgen -W "4.4.0 4.3.1 3.9.1 kip-966" -- "$cur"); return ;;
        --dialect) _kafka_unclean_recovery__reply < <(compgen -W "kip-966 reverted kip-1275" -- "$cur"); return ;;
        --broker-session-timeout-ms) COMPREPLY=(); return ;;
        --replica-lag-time-max-ms) COMPREPLY=(); return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    local commands=""; ((COMP_CWORD > 2)) || commands="scenarios ctl"
    _kafka_unclean_recovery__reply < <(compgen -W "$commands --brokers --log-directories --from-bundle --scenario --data-dir --release --dialect --broker-session-timeout-ms --replica-lag-time-max-ms --format --log-format --color --help" -- "$cur")
}
_kafka_unclean_recovery() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    if ((COMP_CWORD > 1)); then case "${COMP_WORDS[1]}" in
        scan-log-dirs) _kafka_unclean_recovery_scan_log_dirs "$@"; return ;;
        plan) _kafka_unclean_recovery_plan "$@"; return ;;
        doctor) _kafka_unclean_recovery_doctor "$@"; return ;;
        ok-to-stop) _kafka_unclean_recovery_ok_to_stop "$@"; return ;;
        watch) _kafka_unclean_recovery_watch "$@"; return ;;
        explain) _kafka_unclean_recovery_explain "$@"; return ;;
        approve) _kafka_unclean_recovery_approve "$@"; return ;;
        aftercare) _kafka_unclean_recovery_aftercare "$@"; return ;;
        before-start) _kafka_unclean_recovery_before_start "$@"; return ;;
        start-order) _kafka_unclean_recovery_start_order "$@"; return ;;
        bundle) _kafka_unclean_recovery_bundle "$@"; return ;;
        report) _kafka_unclean_recovery_report "$@"; return ;;
        salvage) _kafka_unclean_recovery_salvage "$@"; return ;;
        spark) _kafka_unclean_recovery_spark "$@"; return ;;
        quorum) _kafka_unclean_recovery_quorum "$@"; return ;;
        emulator) _kafka_unclean_recovery_emulator "$@"; return ;;
    esac; fi
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --path-to-json-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --topics) _kafka_unclean_recovery__ask "$1" topics; return ;;
        --manual-recovery-output-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --recovery-duration-ms) COMPREPLY=(); return ;;
        --recovery-election-attempts) COMPREPLY=(); return ;;
        --wait-for-brokers) _kafka_unclean_recovery__ask "$1" offline-brokers; return ;;
        --gone) _kafka_unclean_recovery__ask "$1" down-brokers; return ;;
        --format) _kafka_unclean_recovery__reply < <(compgen -W "table wide json ladder" -- "$cur"); return ;;
        --accept-loss) _kafka_unclean_recovery__ask "$1" topics; return ;;
        --give-up-log) COMPREPLY=(); return ;;
        --end-reassignment) COMPREPLY=(); return ;;
        --canary) COMPREPLY=(); return ;;
        --wave-size) COMPREPLY=(); return ;;
        --plan) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --require-approval) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --journal) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --ignore-journal) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --salvage-dir) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --resume) _kafka_unclean_recovery__journals "$cur"; return ;;
        --keep-order) COMPREPLY=(); return ;;
        --plan-output-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --replica-info-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --log-dirs) _kafka_unclean_recovery__reply < <(compgen -d -- "$cur"); return ;;
        --transport) _kafka_unclean_recovery__reply < <(compgen -W "auto replica-log-info list-offsets" -- "$cur"); return ;;
        --election-method) _kafka_unclean_recovery__reply < <(compgen -W "auto designated reorder" -- "$cur"); return ;;
        --replica-log-info-dialect) _kafka_unclean_recovery__reply < <(compgen -W "kip-966 reverted kip-1275" -- "$cur"); return ;;
        --metrics-file) _kafka_unclean_recovery__reply < <(compgen -f -- "$cur"); return ;;
        --cluster) _kafka_unclean_recovery__ask "$1" clusters; return ;;
        --log-format) _kafka_unclean_recovery__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_unclean_recovery__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    local commands=""; ((COMP_CWORD > 1)) || commands="scan-log-dirs plan doctor ok-to-stop watch explain approve aftercare before-start start-order bundle report salvage spark quorum emulator"
    _kafka_unclean_recovery__reply < <(compgen -W "$commands --bootstrap-server --command-config --all-offline-partitions --path-to-json-file --topics --show-replica-info --manual-recovery-output-file --automated-recovery --recovery-duration-ms --recovery-election-attempts --wait-for-brokers --gone --format --yes --accept-loss --give-up-log --end-reassignment --canary --wave-size --plan --require-approval --journal --ignore-journal --salvage-dir --raw-only --allow-loss --resume --keep-order --plan-output-file --replica-info-file --log-dirs --transport --election-method --replica-log-info-dialect --metrics-file --cluster --log-format --color --version --help" -- "$cur")
}
complete -o filenames -F _kafka_unclean_recovery kafka-unclean-recovery

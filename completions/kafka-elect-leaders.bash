_kafka_elect_leaders__reply() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do COMPREPLY+=("$word"); done
}
_kafka_elect_leaders__ask() {
    local word
    COMPREPLY=()
    while IFS= read -r word; do
        case $word in *[!a-zA-Z0-9._,-]*) ;; *) COMPREPLY+=("$word") ;; esac
    done < <("${1%kafka-elect-leaders}kafka-unclean-recovery" complete "$2" -- "${COMP_LINE:0:COMP_POINT}" < /dev/null 2> /dev/null)
}
_kafka_elect_leaders__journals() {
    local kept=${XDG_STATE_HOME:-~/.local/state}/kafka-unclean-recovery
    _kafka_elect_leaders__reply < <(compgen -f -- "$1"; [[ $1 ]] || compgen -G "$kept/*/*.jsonl")
}
_kafka_elect_leaders() {
    local cur=$2 prev="${COMP_WORDS[COMP_CWORD-1]}"
    if [[ $prev == = ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --election-type) _kafka_elect_leaders__reply < <(compgen -W "preferred unclean designated" -- "$cur"); return ;;
        --command-config|--admin.config) _kafka_elect_leaders__reply < <(compgen -f -- "$cur"); return ;;
        --path-to-json-file) _kafka_elect_leaders__reply < <(compgen -f -- "$cur"); return ;;
        --topic) _kafka_elect_leaders__ask "$1" topics; return ;;
        --partition) COMPREPLY=(); return ;;
        --recovery-duration-ms) COMPREPLY=(); return ;;
        --recovery-election-attempts) COMPREPLY=(); return ;;
        --format) _kafka_elect_leaders__reply < <(compgen -W "table wide json" -- "$cur"); return ;;
        --accept-loss) _kafka_elect_leaders__ask "$1" topics; return ;;
        --canary) COMPREPLY=(); return ;;
        --wave-size) COMPREPLY=(); return ;;
        --journal) _kafka_elect_leaders__reply < <(compgen -f -- "$cur"); return ;;
        --ignore-journal) _kafka_elect_leaders__reply < <(compgen -f -- "$cur"); return ;;
        --transport) _kafka_elect_leaders__reply < <(compgen -W "auto replica-log-info list-offsets" -- "$cur"); return ;;
        --election-method) _kafka_elect_leaders__reply < <(compgen -W "auto designated reorder" -- "$cur"); return ;;
        --replica-log-info-dialect) _kafka_elect_leaders__reply < <(compgen -W "kip-966 reverted kip-1275" -- "$cur"); return ;;
        --metrics-file) _kafka_elect_leaders__reply < <(compgen -f -- "$cur"); return ;;
        --cluster) _kafka_elect_leaders__ask "$1" clusters; return ;;
        --log-format) _kafka_elect_leaders__reply < <(compgen -W "text json" -- "$cur"); return ;;
        --color) _kafka_elect_leaders__reply < <(compgen -W "auto always never" -- "$cur"); return ;;
    esac
    _kafka_elect_leaders__reply < <(compgen -W "--bootstrap-server --election-type --command-config --admin.config --path-to-json-file --topic --partition --all-topic-partitions --recovery-duration-ms --recovery-election-attempts --format --accept-loss --canary --wave-size --journal --ignore-journal --transport --election-method --replica-log-info-dialect --metrics-file --cluster --log-format --color --version --help" -- "$cur")
}
complete -o filenames -F _kafka_elect_leaders kafka-elect-leaders

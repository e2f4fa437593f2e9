_kafka_elect_leaders() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --election-type) COMPREPLY=($(compgen -W "preferred unclean designated" -- "$cur")); return ;;
        --command-config|--admin.config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --path-to-json-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --topic) COMPREPLY=(); return ;;
        --partition) COMPREPLY=(); return ;;
        --recovery-duration-ms) COMPREPLY=(); return ;;
        --recovery-election-attempts) COMPREPLY=(); return ;;
        --format) COMPREPLY=($(compgen -W "table json" -- "$cur")); return ;;
        --journal) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --transport) COMPREPLY=($(compgen -W "auto replica-log-info list-offsets" -- "$cur")); return ;;
        --election-method) COMPREPLY=($(compgen -W "auto designated reorder" -- "$cur")); return ;;
        --replica-log-info-dialect) COMPREPLY=(); return ;;
    esac
    COMPREPLY=($(compgen -W "--bootstrap-server --election-type --command-config --admin.config --path-to-json-file --topic --partition --all-topic-partitions --recovery-duration-ms --recovery-election-attempts --format --journal --transport --election-method --replica-log-info-dialect --version --help" -- "$cur"))
}
complete -o filenames -F _kafka_elect_leaders kafka-elect-leaders

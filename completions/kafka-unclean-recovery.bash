_kafka_unclean_recovery() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
    case "$prev" in
        --bootstrap-server) COMPREPLY=(); return ;;
        --command-config) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --path-to-json-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --manual-recovery-output-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --recovery-duration-ms) COMPREPLY=(); return ;;
        --recovery-election-attempts) COMPREPLY=(); return ;;
        --wait-for-brokers) COMPREPLY=(); return ;;
        --format) COMPREPLY=($(compgen -W "table json" -- "$cur")); return ;;
        --journal) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --resume) COMPREPLY=($(compgen -f -- "$cur")); return ;;
        --plan-output-file) COMPREPLY=($(compgen -f -- "$cur")); return ;;
    esac
    COMPREPLY=($(compgen -W "--bootstrap-server --command-config --all-offline-partitions --path-to-json-file --show-replica-info --manual-recovery-output-file --automated-recovery --recovery-duration-ms --recovery-election-attempts --wait-for-brokers --format --yes --journal --resume --plan-output-file --version --help" -- "$cur"))
}
complete -o filenames -F _kafka_unclean_recovery kafka-unclean-recovery

function __kafka_elect_leaders_ask
    set -l call (string replace -r 'kafka-elect-leaders$' kafka-unclean-recovery -- (commandline -opc)[1]) complete $argv -- (commandline -cp | string collect)
    command $call < /dev/null 2> /dev/null
end
function __kafka_elect_leaders_journals
    set -l state ~/.local/state
    if test -n "$XDG_STATE_HOME"
        set state $XDG_STATE_HOME
    end
    for journal in $state/kafka-unclean-recovery/*/*.jsonl
        echo $journal
    end
end
complete -c kafka-elect-leaders -f
complete -c kafka-elect-leaders -l bootstrap-server -d 'Brokers to contact first, to find the others' -x
complete -c kafka-elect-leaders -l election-type -d 'Which replica is elected' -x -a 'preferred unclean designated'
complete -c kafka-elect-leaders -l command-config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-elect-leaders -l admin.config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-elect-leaders -l path-to-json-file -d 'Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partition": 1, "designatedLeader": 0}]}' -r -F
complete -c kafka-elect-leaders -l topic -d 'Topic of the one partition; needs --partition' -x -a '(__kafka_elect_leaders_ask topics)'
complete -c kafka-elect-leaders -l partition -d 'Number of the one partition; needs --topic' -x
complete -c kafka-elect-leaders -l all-topic-partitions -d 'All partitions of all topics'
complete -c kafka-elect-leaders -l recovery-duration-ms -d 'How long brokers may take to say how far their replicas go, in milliseconds; only for designated elections' -x
complete -c kafka-elect-leaders -l recovery-election-attempts -d 'How many times elections that failed for a temporary reason are tried again' -x
complete -c kafka-elect-leaders -l format -d 'Format of the result on stdout' -x -a 'table wide json'
complete -c kafka-elect-leaders -l accept-loss -d 'Elect a partition of the topic only if its certain loss is known and at most MAX_RECORDS; a topic without a number accepts any loss' -x -a '(__kafka_elect_leaders_ask topics)'
complete -c kafka-elect-leaders -l canary -d 'Elect and verify N partitions first, and stop if an election failed or did not last' -x
complete -c kafka-elect-leaders -l wave-size -d 'Elect and verify at most N partitions at a time, and stop if an election failed or did not last' -x
complete -c kafka-elect-leaders -l journal -d 'File in which each step is written before it is taken; by default a new file under kafka-unclean-recovery in $XDG_STATE_HOME or $HOME/.local/state' -r -F
complete -c kafka-elect-leaders -l ignore-journal -d 'Elect even if this journal of an earlier run can\'t be read' -r -F
complete -c kafka-elect-leaders -l transport -d 'How brokers are asked how far their replicas\' logs go' -x -a 'auto replica-log-info list-offsets'
complete -c kafka-elect-leaders -l election-method -d 'How a designated leader is elected' -x -a 'auto designated reorder'
complete -c kafka-elect-leaders -l replica-log-info-dialect -d 'The form of GetReplicaLogInfo that the brokers speak; by default real brokers are not sent this request' -x -a 'kip-966 reverted kip-1275'
complete -c kafka-elect-leaders -l metrics-file -d 'Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced' -r -F
complete -c kafka-elect-leaders -l cluster -d 'Cluster in clusters.toml, in place of --bootstrap-server and --command-config' -x -a '(__kafka_elect_leaders_ask clusters)'
complete -c kafka-elect-leaders -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-elect-leaders -l color -d 'Colours in text for people: auto has them on a terminal unless NO_COLOR is set or TERM is dumb' -x -a 'auto always never'
complete -c kafka-elect-leaders -l version -d 'Show the version'
complete -c kafka-elect-leaders -l help -d 'Show this message and exit'

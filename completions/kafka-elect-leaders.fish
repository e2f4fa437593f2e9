function __kafka_elect_leaders_ask
    set -l call (string replace -r 'kafka-elect-leaders$' kafka-unclean-recovery -- (commandline -opc)[1]) complete $argv -- (commandline -cp | string collect)
    command $call < /dev/null 2> /dev/null
end
complete -c kafka-elect-leaders -f
complete -c kafka-elect-leaders -l bootstrap-server -d 'Brokers to connect to first' -x
complete -c kafka-elect-leaders -l election-type -d 'preferred: the first replica, if another one leads' -x -a 'preferred unclean designated'
complete -c kafka-elect-leaders -l command-config -d 'Java client properties: TLS, SASL, client.id' -r -F
complete -c kafka-elect-leaders -l admin.config -d 'Java client properties: TLS, SASL, client.id' -r -F
complete -c kafka-elect-leaders -l path-to-json-file -d '{"partitions": [{"topic": "foo", "partition": 1, "designatedLeader": 0}]}; designatedLeader (or desiredLeader) is for designated elections' -r -F
complete -c kafka-elect-leaders -l topic -d 'With --partition: one partition' -x -a '(__kafka_elect_leaders_ask topics)'
complete -c kafka-elect-leaders -l partition -d 'With --topic' -x
complete -c kafka-elect-leaders -l all-topic-partitions -d 'Every partition'
complete -c kafka-elect-leaders -l recovery-duration-ms -d 'designated: how long brokers may take to answer' -x
complete -c kafka-elect-leaders -l recovery-election-attempts -d 'Retries of elections that fail in passing' -x
complete -c kafka-elect-leaders -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-elect-leaders -l accept-loss -d 'Refuse partitions whose certain loss is above that of their topic, or unknown, and those whose topic is not named; * is any other topic' -x -a '(__kafka_elect_leaders_ask topics)'
complete -c kafka-elect-leaders -l canary -d 'Elect N partitions and verify them before the others; a surprise stops it' -x
complete -c kafka-elect-leaders -l wave-size -d 'Elect N partitions at a time and verify them; a surprise stops it' -x
complete -c kafka-elect-leaders -l journal -d 'Where each step is noted before it is taken' -r -F
complete -c kafka-elect-leaders -l ignore-journal -d 'Elect although this journal of an earlier run can\'t be read; may be given again' -r -F
complete -c kafka-elect-leaders -l transport -d 'How replicas are asked how far they go' -x -a 'auto replica-log-info list-offsets'
complete -c kafka-elect-leaders -l election-method -d 'How a designated leader is elected' -x -a 'auto designated reorder'
complete -c kafka-elect-leaders -l replica-log-info-dialect -d 'What the brokers understand by GetReplicaLogInfo, which is sent with this key: kip-966 (krabka too) 1020, kip-1275 1275, reverted 93' -x -a 'kip-966 reverted kip-1275'
complete -c kafka-elect-leaders -l metrics-file -d 'Write metrics of this run there, in Prometheus\' text format, however it ends; such a file of an earlier run is replaced' -r -F
complete -c kafka-elect-leaders -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-elect-leaders -l version -d 'Show the version'
complete -c kafka-elect-leaders -l help -d 'Show this message and exit'

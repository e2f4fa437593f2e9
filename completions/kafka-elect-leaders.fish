complete -c kafka-elect-leaders -f
complete -c kafka-elect-leaders -l bootstrap-server -d 'Brokers to connect to first' -x
complete -c kafka-elect-leaders -l election-type -d 'preferred: the first replica, if another one leads' -x -a 'preferred unclean designated'
complete -c kafka-elect-leaders -l command-config -d 'Java client properties: TLS, SASL, client.id' -r -F
complete -c kafka-elect-leaders -l admin.config -d 'Java client properties: TLS, SASL, client.id' -r -F
complete -c kafka-elect-leaders -l path-to-json-file -d '{"partitions": [{"topic": "foo", "partition": 1, "designatedLeader": 0}]}; designatedLeader (or desiredLeader) is for designated elections' -r -F
complete -c kafka-elect-leaders -l topic -d 'With --partition: one partition' -x
complete -c kafka-elect-leaders -l partition -d 'With --topic' -x
complete -c kafka-elect-leaders -l all-topic-partitions -d 'Every partition'
complete -c kafka-elect-leaders -l recovery-duration-ms -d 'designated: how long brokers may take to answer' -x
complete -c kafka-elect-leaders -l recovery-election-attempts -d 'Retries of elections that fail in passing' -x
complete -c kafka-elect-leaders -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-elect-leaders -l journal -d 'Where each step is noted before it is taken' -r -F
complete -c kafka-elect-leaders -l version -d 'Show the version'
complete -c kafka-elect-leaders -l help -d 'Show this message and exit'

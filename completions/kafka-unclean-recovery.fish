complete -c kafka-unclean-recovery -f
complete -c kafka-unclean-recovery -l bootstrap-server -d 'Brokers to connect to first' -x
complete -c kafka-unclean-recovery -l command-config -d 'Java client properties: TLS, SASL, client.id' -r -F
complete -c kafka-unclean-recovery -l all-offline-partitions -d 'Every partition without a leader'
complete -c kafka-unclean-recovery -l path-to-json-file -d 'The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -l show-replica-info -d 'Show how far each replicas log goes'
complete -c kafka-unclean-recovery -l manual-recovery-output-file -d 'Write the designated leaders, for kafka-elect-leaders, and elect nothing' -r -F
complete -c kafka-unclean-recovery -l automated-recovery -d 'Elect the designated leaders'
complete -c kafka-unclean-recovery -l recovery-duration-ms -d 'How long brokers may take to answer' -x
complete -c kafka-unclean-recovery -l recovery-election-attempts -d 'Retries of elections that fail in passing' -x
complete -c kafka-unclean-recovery -l wait-for-brokers -d 'Wait, within the duration, for brokers that are down: 1,2 or all' -x
complete -c kafka-unclean-recovery -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -l yes -d 'Elect without asking on a terminal'
complete -c kafka-unclean-recovery -l journal -d 'Where each step is noted before it is taken' -r -F
complete -c kafka-unclean-recovery -l resume -d 'Only finish what the run of this journal left' -r -F
complete -c kafka-unclean-recovery -l plan-output-file -d 'Write the plan with all that it rests on' -r -F
complete -c kafka-unclean-recovery -l version -d 'Show the version'
complete -c kafka-unclean-recovery -l help -d 'Show this message and exit'

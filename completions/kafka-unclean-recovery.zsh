#compdef kafka-unclean-recovery
_arguments \
    '--bootstrap-server[Brokers to connect to first]:value: ' \
    '--command-config[Java client properties  TLS, SASL, client.id]:file:_files' \
    '--all-offline-partitions[Every partition without a leader]' \
    '--path-to-json-file[The partitions, as {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--show-replica-info[Show how far each replicas log goes]' \
    '--manual-recovery-output-file[Write the designated leaders, for kafka-elect-leaders, and elect nothing]:file:_files' \
    '--automated-recovery[Elect the designated leaders]' \
    '--recovery-duration-ms[How long brokers may take to answer]:value: ' \
    '--recovery-election-attempts[Retries of elections that fail in passing]:value: ' \
    '--wait-for-brokers[Wait, within the duration, for brokers that are down  1,2 or all]:value: ' \
    '--format[What stdout gets]:value:(table json)' \
    '--yes[Elect without asking on a terminal]' \
    '--journal[Where each step is noted before it is taken]:file:_files' \
    '--resume[Only finish what the run of this journal left]:file:_files' \
    '--plan-output-file[Write the plan with all that it rests on]:file:_files' \
    '--version[Show the version]' \
    '--help[Show this message and exit]'

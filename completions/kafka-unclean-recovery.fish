function __kafka_unclean_recovery_ask
    set -l call (commandline -opc)[1] complete $argv -- (commandline -cp | string collect)
    command $call < /dev/null 2> /dev/null
end
complete -c kafka-unclean-recovery -f
complete -c kafka-unclean-recovery -n 'test (count (commandline -opc)) -eq 1' -a 'scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l bootstrap-server -d 'Brokers to contact first, to find the others; required unless a command is given' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l command-config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l all-offline-partitions -d 'All partitions without a leader; give this or --path-to-json-file'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l path-to-json-file -d 'Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l show-replica-info -d 'Show how far each replica\'s log goes'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l manual-recovery-output-file -d 'Write the designated leaders to this new file, for kafka-elect-leaders, and elect nothing' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l automated-recovery -d 'Elect the designated leaders'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l recovery-duration-ms -d 'How long brokers may take to say how far their replicas go, in milliseconds; a broker that does not answer in time is not considered' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l recovery-election-attempts -d 'How many times elections that failed for a temporary reason are tried again' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l wait-for-brokers -d 'Wait for brokers that are down, such as 1,2, or for all, at most for --recovery-duration-ms; by default the command does not wait' -x -a '(__kafka_unclean_recovery_ask offline-brokers)'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l format -d 'Format of the result on stdout' -x -a 'table json ladder'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l yes -d 'Elect without asking for consent'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l accept-loss -d 'Elect a partition of the topic only if its certain loss is known and at most MAX_RECORDS; a topic without a number accepts any loss' -x -a '(__kafka_unclean_recovery_ask topics)'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l canary -d 'Elect and verify N partitions first, and stop if an election failed or did not last' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l wave-size -d 'Elect and verify at most N partitions at a time, and stop if an election failed or did not last' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l plan -d 'Elect only partitions that are still as in this plan, which --plan-output-file wrote' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l require-approval -d 'Elect only if another user approved the plan of --plan; the command approve writes this file' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l journal -d 'File in which each step is written before it is taken; by default a new file under kafka-unclean-recovery in $XDG_STATE_HOME or $HOME/.local/state' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l ignore-journal -d 'Elect even if this journal of an earlier run can\'t be read' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l salvage-dir -d 'Before electing, save the records that live replicas would lose to this new directory' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l allow-loss -d 'Also elect partitions whose records --salvage-dir could not save'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l resume -d 'Only finish what the run of this journal left half done' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l plan-output-file -d 'Write the plan, with all data that it rests on, to this new file' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l replica-info-file -d 'File that scan-log-dirs --output wrote, on this machine or another' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l log-dirs -d 'Log directory of a dead broker, which is read now' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l transport -d 'How brokers are asked how far their replicas\' logs go' -x -a 'auto replica-log-info list-offsets'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l election-method -d 'How a designated leader is elected' -x -a 'auto designated reorder'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l replica-log-info-dialect -d 'The form of GetReplicaLogInfo that the brokers speak; by default real brokers are not sent this request' -x -a 'kip-966 reverted kip-1275'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l metrics-file -d 'Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l version -d 'Show the version'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor explain approve aftercare report salvage spark quorum emulator' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l mode -d 'How much of the logs is read' -x -a 'fast recover deep'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l workers -d 'Number of processes that read at the same time; by default one for each processor, at most 4' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l output -d 'Write the result as JSON to this new file, for --replica-info-file of other commands' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l topics -d 'Only topics whose whole name matches this regular expression of Python\'s re; by default all topics' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l path-to-json-file -d 'Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l metrics-file -d 'Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l manual-recovery-output-file -d 'Write the designated leaders to this new file, for kafka-elect-leaders' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l replica-info-file -d 'File that scan-log-dirs --output wrote, on this machine or another' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l log-dirs -d 'Log directory of a dead broker, which is read now' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l mode -d 'How much of the logs is read' -x -a 'fast recover deep'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l exclude-brokers -d 'Ids of brokers that will never start again and must not lead, such as 1,2; by default none' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l plan-output-file -d 'Write the plan, with all data that it rests on, to this new file' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l topics -d 'Only topics whose whole name matches this regular expression of Python\'s re; by default all topics' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l path-to-json-file -d 'Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l metrics-file -d 'Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l bootstrap-server -d 'Brokers to contact first, to find the others' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l command-config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l timeout-ms -d 'How long each question to the cluster may take, in milliseconds' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l salvage-dir -d 'Directory where a salvage would be written; its free space is checked' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l transport -d 'How brokers are asked how far their replicas\' logs go' -x -a 'auto replica-log-info list-offsets'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l election-method -d 'How a designated leader is elected' -x -a 'auto designated reorder'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l replica-log-info-dialect -d 'The form of GetReplicaLogInfo that the brokers speak; by default real brokers are not sent this request' -x -a 'kip-966 reverted kip-1275'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l metrics-file -d 'Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from explain' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from explain' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from explain'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from approve' -l output -d 'Write the approval to this new file' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from approve' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from approve' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from approve' -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l bootstrap-server -d 'Brokers to contact first, to find the others' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l command-config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l journal -d 'Only the partitions that this journal\'s run elected; the journal also gets what is found and done' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l topics -d 'Only topics whose whole name matches this regular expression of Python\'s re; by default all topics' -x -a '(__kafka_unclean_recovery_ask topics)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l path-to-json-file -d 'Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l log-dirs -d 'Log directory of a dead broker, which is read now' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l replica-info-file -d 'File that scan-log-dirs --output wrote, on this machine or another' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l end-transactions -d 'End the hanging transactions whose outcome their coordinators know for certain'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l watch -d 'Look again every second until nothing is left three times in a row'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l watch-duration-ms -d 'How long --watch may take, in milliseconds; by default 600000' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l metrics-file -d 'Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l markdown -d 'Same as --format markdown'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l html -d 'Same as --format html'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l json -d 'Same as --format json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l format -d 'Format of the report; by default markdown' -x -a 'markdown html json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l output -d 'Write the report to this new file; by default to stdout' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and test (count (commandline -opc)) -eq 2' -a 'replay offsets'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l log-dirs -d 'Log directory of a dead broker, which is read now' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l replica-info-file -d 'File that scan-log-dirs --output wrote, on this machine or another' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l plan -d 'Plan that --plan-output-file wrote; it names the designated leaders and the ends of their logs' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l output -d 'Write all results to this new directory, which must not exist' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l manual-recovery-file -d 'File of designated leaders, as kafka-elect-leaders takes it, for partitions where another leader than the plan\'s was elected' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l raw-only -d 'Write only segment files, and no Parquet files, which need pyarrow'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l topics -d 'Only topics whose whole name matches this regular expression of Python\'s re; by default all topics' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l path-to-json-file -d 'Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay offsets' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l bootstrap-server -d 'Brokers to contact first, to find the others' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l command-config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l topics -d 'Only topics whose whole name matches this regular expression of Python\'s re; by default all topics' -x -a '(__kafka_unclean_recovery_ask topics)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l path-to-json-file -d 'Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l target -d 'Name of the target topic; {topic} stands for the topic that the records were in' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l include-open -d 'Also produce records of transactions whose end is not among the saved records'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l checkpoint -d 'File that notes what has been produced; by default SAVED.replay-checkpoint' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l execute -d 'Produce the records; by default the command only shows them'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l bootstrap-server -d 'Brokers to contact first, to find the others' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l command-config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l group -d 'Look only at this group; may be repeated' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l backwards -d 'Also bring commits back that lie below what the group has committed now: it reads again from there'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l without-epoch -d 'Also bring commits back whose records tell no leader epoch, as those of old clients: if an election replaced records, the group passes over the new ones'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l plan -d 'Change nothing, and show the commits; this is the default'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l execute -d 'Bring the commits back; on a terminal the command asks first'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l yes -d 'Do not ask on a terminal'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from offsets' -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and test (count (commandline -opc)) -eq 2' -a 'scan plan salvage'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and not __fish_seen_subcommand_from scan plan salvage' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l output -d 'Directory for the tables and for the progress of the scan' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l roots-table -d 'CSV or Parquet file with a column root, which names a log directory in each row' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l mode -d 'How much of the logs is read' -x -a 'fast recover deep'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l topics -d 'Only topics whose whole name matches this regular expression of Python\'s re; by default all topics' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l path-to-json-file -d 'Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l store-endpoint -d 'Address of the object store; by default the public service of its provider' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l store-region -d 'Region of the S3 bucket; by default the S3 client\'s own setting' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l master -d 'Spark master as for spark-submit, or sc://HOST:PORT for Spark Connect; by default the master of spark-submit, else local[*]' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l conf -d 'Spark setting' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l summaries -d 'Directory that spark scan --output wrote' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l manual-recovery-output-file -d 'Write the designated leaders to this new file, for kafka-elect-leaders' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l plan-output-file -d 'Write the plan, with all data that it rests on, to this new file' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l exclude-brokers -d 'Ids of brokers that will never start again and must not lead, such as 1,2; by default none' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l html -d 'Write an HTML page of the losses by topic, and of the partitions that lose most, to this new file' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l master -d 'Spark master as for spark-submit, or sc://HOST:PORT for Spark Connect; by default the master of spark-submit, else local[*]' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l conf -d 'Spark setting' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l summaries -d 'Directory that spark scan --output wrote' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l plan -d 'Plan that --plan-output-file wrote; it names the designated leaders and the ends of their logs' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l output -d 'Write all results to this new directory, which must not exist' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l manual-recovery-file -d 'File of designated leaders, as kafka-elect-leaders takes it, for partitions where another leader than the plan\'s was elected' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l raw-only -d 'Write only segment files, and no Parquet files, which need pyarrow'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l topics -d 'Only topics whose whole name matches this regular expression of Python\'s re; by default all topics' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l path-to-json-file -d 'Only the partitions in this JSON file: {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l store-endpoint -d 'Address of the object store; by default the public service of its provider' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l store-region -d 'Region of the S3 bucket; by default the S3 client\'s own setting' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l master -d 'Spark master as for spark-submit, or sc://HOST:PORT for Spark Connect; by default the master of spark-submit, else local[*]' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l conf -d 'Spark setting' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and test (count (commandline -opc)) -eq 2' -a 'inspect plan seed verify'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and not __fish_seen_subcommand_from inspect plan seed verify' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from inspect' -l bootstrap-server -d 'Brokers that still run; by default none is asked' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from inspect' -l command-config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from inspect' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from inspect' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from inspect' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from inspect' -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l new-controller -d 'Controller to be made' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l plan-output-file -d 'Write the plan to this new file' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l lost-controllers -d 'Voters that are gone for good' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l without-copies-of -d 'Brokers and controllers whose copies can\'t be read' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l controller-quorum-voters -d 'The line controller.quorum.voters of the lost cluster; needed where its log does not tell the voters or their addresses' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l controller-listener-name -d 'The name in controller.listener.names' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l bootstrap-server -d 'Brokers that still run; by default none is asked' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l command-config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from plan' -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from seed' -l plan -d 'Plan that quorum plan wrote' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from seed' -l output-dir -d 'Write it to this new directory: log.dirs of the new controller' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from seed' -l yes -d 'Do not ask on a terminal'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from seed' -l journal -d 'File in which each step is written before it is taken; by default a new file under kafka-unclean-recovery in $XDG_STATE_HOME or $HOME/.local/state' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from seed' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from seed' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from verify' -l plan -d 'Plan that quorum plan wrote' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from verify' -l bootstrap-controller -d 'The new controller' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from verify' -l bootstrap-server -d 'Brokers that still run; by default none is asked' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from verify' -l command-config -d 'Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from verify' -l timeout-ms -d 'How long to wait until all holds' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from verify' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from verify' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from quorum; and __fish_seen_subcommand_from verify' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and test (count (commandline -opc)) -eq 2' -a 'ctl'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l brokers -d 'Number of brokers' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l log-directories -d 'Number of log directories of each broker' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l scenario -d 'File of commands to carry out first, one on each line, as for ctl' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l data-dir -d 'Directory where the cluster is kept; a cluster that is already there is continued' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l release -d 'Kafka release whose controller is emulated' -x -a '4.4.0 4.3.1 3.9.1 kip-966'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l dialect -d 'Form of GetReplicaLogInfo that the brokers speak; by default none' -x -a 'kip-966 reverted kip-1275'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l broker-session-timeout-ms -d 'Milliseconds after which a silent broker is fenced' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l replica-lag-time-max-ms -d 'Milliseconds after which a lagging replica leaves the ISR' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l data-dir -d 'Data directory of the emulator, as in its --data-dir; give this or --socket' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l socket -d 'Control socket, which the emulator printed as control.socket; give this or --data-dir' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l format -d 'Format of the result on stdout' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l log-format -d 'Format of messages on stderr: text, or a JSON object for each message' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -a 'create-topic delete-topic alter-configs alter-broker-configs produce elect-leaders kill power-off stop start pause resume fence unfence flush lose-disk wipe corrupt-disk drop-link delay-link restore-link restore-links lag lag-metadata intercept clear-intercepts wait-until status metrics help'

function __kafka_unclean_recovery_ask
    set -l call (commandline -opc)[1] complete $argv -- (commandline -cp | string collect)
    command $call < /dev/null 2> /dev/null
end
complete -c kafka-unclean-recovery -f
complete -c kafka-unclean-recovery -n 'test (count (commandline -opc)) -eq 1' -a 'scan-log-dirs plan doctor approve aftercare report salvage spark emulator'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l bootstrap-server -d 'Brokers to connect to first; required without a command' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l command-config -d 'Java client properties: TLS, SASL, client.id' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l all-offline-partitions -d 'Every partition without a leader'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l path-to-json-file -d 'The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l show-replica-info -d 'Show how far each replica\'s log goes'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l manual-recovery-output-file -d 'Write the designated leaders, for kafka-elect-leaders, and elect nothing' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l automated-recovery -d 'Elect the designated leaders'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l recovery-duration-ms -d 'How long brokers may take to answer' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l recovery-election-attempts -d 'Retries of elections that fail in passing' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l wait-for-brokers -d 'Wait, within the duration, for brokers that are down: 1,2 or all' -x -a '(__kafka_unclean_recovery_ask offline-brokers)'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l format -d 'What stdout gets' -x -a 'table json ladder'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l yes -d 'Elect without asking on a terminal'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l accept-loss -d 'Refuse partitions whose certain loss is above that of their topic, or unknown, and those whose topic is not named; * is any other topic' -x -a '(__kafka_unclean_recovery_ask topics)'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l canary -d 'Elect N partitions and verify them before the others; a surprise stops it' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l wave-size -d 'Elect N partitions at a time and verify them; a surprise stops it' -x
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l plan -d 'Elect only what is still as in this plan of --plan-output-file' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l require-approval -d 'Elect only if another user approved --plan (see approve)' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l journal -d 'Where each step is noted before it is taken' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l ignore-journal -d 'Elect although this journal of an earlier run can\'t be read; may be given again' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l salvage-dir -d 'Before electing, save there what live replicas would lose; where that fails, nobody is elected' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l allow-loss -d 'Elect where --salvage-dir could not save all, too'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l resume -d 'Only finish what the run of this journal left' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l plan-output-file -d 'Write the plan with all that it rests on' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l replica-info-file -d 'What scan-log-dirs --output wrote, here or elsewhere; may be given again' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l log-dirs -d 'Log directories of dead brokers to read now; may be given again' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l transport -d 'How replicas are asked how far they go' -x -a 'auto replica-log-info list-offsets'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l election-method -d 'How a designated leader is elected' -x -a 'auto designated reorder'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l replica-log-info-dialect -d 'What the brokers understand by GetReplicaLogInfo, which is sent with this key: kip-966 (krabka too) 1020, kip-1275 1275, reverted 93' -x -a 'kip-966 reverted kip-1275'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l metrics-file -d 'Write metrics of this run there, in Prometheus\' text format, however it ends; such a file of an earlier run is replaced' -r -F
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l version -d 'Show the version'
complete -c kafka-unclean-recovery -n 'not __fish_seen_subcommand_from scan-log-dirs plan doctor approve aftercare report salvage spark emulator' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l mode -d 'How much is read' -x -a 'fast recover deep'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l workers -d 'Processes that read at a time; by default the processors, at most 4' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l output -d 'Write the JSON, for --replica-info-file of other commands' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l topics -d 'Only topics whose whole name matches (Python\'s re)' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l path-to-json-file -d 'The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l metrics-file -d 'Write metrics of this run there, in Prometheus\' text format, however it ends; such a file of an earlier run is replaced' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from scan-log-dirs' -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l manual-recovery-output-file -d 'Write the designated leaders, for kafka-elect-leaders' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l replica-info-file -d 'What scan-log-dirs --output wrote, here or elsewhere; may be given again' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l log-dirs -d 'Log directories of dead brokers to read now; may be given again' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l mode -d 'How much is read' -x -a 'fast recover deep'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l exclude-brokers -d 'Brokers that will never start again, as in 1,2: none will lead' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l plan-output-file -d 'Write the plan with all that it rests on' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l topics -d 'Only topics whose whole name matches (Python\'s re)' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l path-to-json-file -d 'The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l metrics-file -d 'Write metrics of this run there, in Prometheus\' text format, however it ends; such a file of an earlier run is replaced' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from plan' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l bootstrap-server -d 'Brokers to connect to first' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l command-config -d 'Java client properties: TLS, SASL, client.id' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l timeout-ms -d 'How long each question may take' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l salvage-dir -d 'Where a salvage would be written: its room is checked' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l transport -d 'How replicas are asked how far they go' -x -a 'auto replica-log-info list-offsets'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l election-method -d 'How a designated leader is elected' -x -a 'auto designated reorder'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l replica-log-info-dialect -d 'What the brokers understand by GetReplicaLogInfo, which is sent with this key: kip-966 (krabka too) 1020, kip-1275 1275, reverted 93' -x -a 'kip-966 reverted kip-1275'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l metrics-file -d 'Write metrics of this run there, in Prometheus\' text format, however it ends; such a file of an earlier run is replaced' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from doctor' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from approve' -l output -d 'Where the approval is written' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from approve' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from approve' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from approve' -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l bootstrap-server -d 'Brokers to connect to first' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l command-config -d 'Java client properties: TLS, SASL, client.id' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l journal -d 'Only the partitions that this journal\'s runs elected; markers are noted there' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l topics -d 'Only topics whose whole name matches (Python\'s re)' -x -a '(__kafka_unclean_recovery_ask topics)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l path-to-json-file -d 'The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l log-dirs -d 'Log directories of dead brokers to read now; may be given again' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l replica-info-file -d 'What scan-log-dirs --output wrote, here or elsewhere; may be given again' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l end-transactions -d 'End hanging transactions whose ending their coordinators know for sure'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l watch -d 'Look again until it is over three times in a row'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l watch-duration-ms -d 'How long --watch may take; 600000 by default' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l metrics-file -d 'Write metrics of this run there, in Prometheus\' text format, however it ends; such a file of an earlier run is replaced' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from aftercare' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l markdown -d 'As --format markdown'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l html -d 'As --format html'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l json -d 'As --format json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l format -d 'markdown: for a ticket; the default' -x -a 'markdown html json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l output -d 'Where it goes, instead of stdout' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from report' -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and test (count (commandline -opc)) -eq 2' -a 'replay'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l log-dirs -d 'Log directories of dead brokers to read now; may be given again' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l replica-info-file -d 'What scan-log-dirs --output wrote, here or elsewhere; may be given again' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l plan -d 'What --plan-output-file wrote: who is to lead, and how far its log goes' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l output -d 'Where all goes; it must not exist' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l manual-recovery-file -d 'Designated leaders as they were elected, where they are not the plan\'s' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l raw-only -d 'Write segment files only, no Parquet, which needs pyarrow'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l topics -d 'Only topics whose whole name matches (Python\'s re)' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l path-to-json-file -d 'The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and not __fish_seen_subcommand_from replay' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l bootstrap-server -d 'Brokers to connect to first' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l command-config -d 'Java client properties: TLS, SASL, client.id' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l topics -d 'Only topics whose whole name matches (Python\'s re)' -x -a '(__kafka_unclean_recovery_ask topics)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l path-to-json-file -d 'The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l target -d 'Where records go; {topic} is the topic they were in' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l include-open -d 'Produce records of transactions without an end here, too'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l checkpoint -d 'What has been produced; by default beside SAVED, by its name' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l execute -d 'Produce; else it is only shown what would be'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from salvage; and __fish_seen_subcommand_from replay' -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and test (count (commandline -opc)) -eq 2' -a 'scan plan salvage'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and not __fish_seen_subcommand_from scan plan salvage' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l output -d 'Where the tables go, and what is done so far; driver and executors must have it under the same path' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l roots-table -d 'CSV or Parquet with a column root, such as one row a broker disk' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l mode -d 'How much is read' -x -a 'fast recover deep'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l topics -d 'Only topics whose whole name matches (Python\'s re)' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l path-to-json-file -d 'The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l store-endpoint -d 'Of an object store that is not its maker\'s own' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l store-region -d 'Of an S3 bucket' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l master -d 'As spark-submit has it, or sc://HOST:PORT; by default spark-submit\'s, else local[*]' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l conf -d 'A setting of Spark; may be given again' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from scan' -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l summaries -d 'What spark scan --output wrote; may be given again' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l manual-recovery-output-file -d 'Write the designated leaders, for kafka-elect-leaders' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l plan-output-file -d 'Write the plan with all that it rests on' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l exclude-brokers -d 'Brokers that will never start again, as in 1,2: none will lead' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l html -d 'Write what is lost, by topic and partition, as a page' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l master -d 'As spark-submit has it, or sc://HOST:PORT; by default spark-submit\'s, else local[*]' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l conf -d 'A setting of Spark; may be given again' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from plan' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l summaries -d 'What spark scan --output wrote; may be given again' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l plan -d 'What --plan-output-file wrote: who is to lead, and how far its log goes' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l output -d 'Where all goes; it must not exist' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l manual-recovery-file -d 'Designated leaders as they were elected, where they are not the plan\'s' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l raw-only -d 'Write segment files only, no Parquet, which needs pyarrow'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l topics -d 'Only topics whose whole name matches (Python\'s re)' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l path-to-json-file -d 'The partitions, as {"partitions": [{"topic": "foo", "partitions": [0, 3]}]}' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l store-endpoint -d 'Of an object store that is not its maker\'s own' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l store-region -d 'Of an S3 bucket' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l master -d 'As spark-submit has it, or sc://HOST:PORT; by default spark-submit\'s, else local[*]' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l conf -d 'A setting of Spark; may be given again' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from spark; and __fish_seen_subcommand_from salvage' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and test (count (commandline -opc)) -eq 2' -a 'ctl'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l brokers -d 'How many' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l log-directories -d 'How many disks a broker has' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l scenario -d 'Commands to carry out first, one a line, as for ctl' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l data-dir -d 'Where the cluster is kept' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l release -d 'Whose controller it has' -x -a '4.3.1 3.9.1 kip-966'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l dialect -d 'The dialect of GetReplicaLogInfo that brokers speak; by default none' -x -a 'kip-966 reverted kip-1275'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l broker-session-timeout-ms -d 'After which a silent broker is fenced' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l replica-lag-time-max-ms -d 'After which a lagging replica leaves the ISR' -x
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and not __fish_seen_subcommand_from ctl' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l data-dir -d 'The --data-dir of the emulator' -x -a '(__fish_complete_directories)'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l socket -d 'The control.socket that it printed' -r -F
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l format -d 'What stdout gets' -x -a 'table json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l log-format -d 'What stderr gets: text, or a JSON object for each sentence' -x -a 'text json'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -l help -d 'Show this message and exit'
complete -c kafka-unclean-recovery -n '__fish_seen_subcommand_from emulator; and __fish_seen_subcommand_from ctl' -a 'create-topic delete-topic alter-configs alter-broker-configs produce elect-leaders kill power-off stop start pause resume fence unfence flush lose-disk wipe corrupt-disk drop-link delay-link restore-link restore-links lag lag-metadata intercept clear-intercepts wait-until status metrics help'

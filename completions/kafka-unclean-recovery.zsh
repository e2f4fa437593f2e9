#compdef kafka-unclean-recovery
local -a typed=("${words[@]}"); local -i typing=CURRENT
_kafka_unclean_recovery__ask() {
    local -a found
    found=("${(@f)$("${(Q)typed[1]}" complete $1 -- \
        "${(j: :)typed[1,typing-1]} $PREFIX" < /dev/null 2> /dev/null)}")
    compadd -- "${(@)found:#}"
}
_kafka_unclean_recovery__journals() {
    _files
    [[ -n $PREFIX ]] || compadd -f --         ${XDG_STATE_HOME:-~/.local/state}/kafka-unclean-recovery/*/*.jsonl(N)
}
if ((CURRENT > 2)); then case "$words[2]" in
scan-log-dirs)
shift words; ((CURRENT--))
_arguments \
    '--mode=[How much of the logs is read]:value:(fast recover deep)' \
    '--workers=[Number of processes that read at the same time; by default one for each processor, at most 4]:value: ' \
    '--output=[Write the result as JSON to this new file, for --replica-info-file of other commands]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--topics=[Only topics whose whole name matches this regular expression of Python'\''s re; by default all topics]:value: ' \
    '--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--metrics-file=[Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced]:file:_files' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:directory:_files -/'
return ;;
plan)
shift words; ((CURRENT--))
_arguments \
    '--manual-recovery-output-file=[Write the designated leaders to this new file, for kafka-elect-leaders]:file:_files' \
    '*--replica-info-file=[File that scan-log-dirs --output wrote, on this machine or another]:file:_files' \
    '*--log-dirs=[Log directory of a dead broker, which is read now]:directory:_files -/' \
    '--mode=[How much of the logs is read]:value:(fast recover deep)' \
    '--exclude-brokers=[Ids of brokers that will never start again and must not lead, such as 1,2; by default none]:value: ' \
    '--plan-output-file=[Write the plan, with all data that it rests on, to this new file]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--topics=[Only topics whose whole name matches this regular expression of Python'\''s re; by default all topics]:value: ' \
    '--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--metrics-file=[Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced]:file:_files' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
doctor)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to contact first, to find the others]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--timeout-ms=[How long each question to the cluster may take, in milliseconds]:value: ' \
    '--salvage-dir=[Directory where a salvage would be written; its free space is checked]:directory:_files -/' \
    '--transport=[How brokers are asked how far their replicas'\'' logs go]:value:(auto replica-log-info list-offsets)' \
    '--election-method=[How a designated leader is elected]:value:(auto designated reorder)' \
    '--replica-log-info-dialect=[The form of GetReplicaLogInfo that the brokers speak; by default real brokers are not sent this request]:value:(kip-966 reverted kip-1275)' \
    '--metrics-file=[Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced]:file:_files' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
ok-to-stop)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to contact first, to find the others; required without --what-if]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--brokers=[Brokers that would be stopped together]:brokers:{_kafka_unclean_recovery__ask brokers}' \
    '--rack=[All brokers of this broker.rack]:racks:{_kafka_unclean_recovery__ask racks}' \
    '--controllers=[Controllers that would be stopped too; a node that is both counts in --brokers]:value: ' \
    '--margin=[How many more failures each partition must stand before writes are blocked]:value: ' \
    '--max=[Also show how far the brokers can be joined by others of their rack, one at a time, up to N in all; with --rack, it begins with none]:value: ' \
    '--wait-ms=[Look again until the answer is yes, for at most this time, in milliseconds]:value: ' \
    '--after[After the start  show which of the brokers'\'' replicas are not back in the ISR]' \
    '--save=[Write what was seen of the cluster to this new file, for --what-if]:file:_files' \
    '--what-if=[Answer from a file that --save wrote, and contact no cluster]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--metrics-file=[Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced]:file:_files' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
watch)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to contact first, to find the others]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--interval-ms=[From the end of a look to the next, in milliseconds]:value: ' \
    '--duration-ms=[End after this time, in milliseconds]:value: ' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--metrics-file=[Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced]:file:_files' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
explain)
shift words; ((CURRENT--))
_arguments \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:value:(live_records_truncated longer_log_lost_to_newer_epoch committed_records_lost high_watermark_beyond_log_end designated_leader_is_empty log_given_up eligible_replica_fell_short leads_by_itself_and_cuts dead_disk_holds_more suspect_log commits_beyond_the_best_log dead_replica_may_hold_more dead_replica_unseen disk_is_lost dead_disk_not_sure disk_not_readable fast_scan_only newer_than_the_metadata not_in_newest_metadata replica_in_two_directories replica_scanned_twice emptied_log_ends_further replica_did_not_answer replica_unregistered replica_lives_unseen replica_unproven replica_fenced replica_not_ranked reassignment_in_progress reassignment_ended tiered_topic eligible_replica_is_back records_below_log_start damaged_log not_assigned stray_directory tie designated_by_hand quorum_not_lost quorum_lives lost_controller_answers lost_controller_unreachable lost_controller_taken_for_gone quorum_not_told lost_controller_not_asked metadata_of_two_clusters metadata_of_two_histories metadata_copies_not_compared metadata_copy_not_loadable metadata_without_brokers cluster_id_not_known quorum_state_not_read metadata_copies_diverge metadata_copy_damaged metadata_copy_not_seen metadata_copy_not_read data_not_all_read metadata_copy_left_out metadata_behind_data metadata_gap_not_known metadata_tail_given_up metadata_transaction_open replicas_put_aside quorum_release_not_tried new_controller_refused no_designated_leader brokers_answer broker_unreachable who_answered no_live_broker bootstrap_unreachable bootstrap_of_another_cluster fenced_not_told metadata_old broker_down broker_stopped_reading_metadata releases metadata_version elr release_not_tried known_election_bug request_not_understood mechanism quorum clock_controller clock_brokers offline_partitions led_on_return led_unseen dead_leaders reassignments unclean_elections right_cluster_describe right_cluster_alter right_topic_describe right_topic_read right_replica_log_info right_topic_write hidden_topics journal_unreadable unfinished_journal room_journal room_salvage log_directories log_directory_failed log_directory_full lossless better no_better worse unknown elected already_online no_candidate refused failed)'
return ;;
approve)
shift words; ((CURRENT--))
_arguments \
    '--output=[Write the approval to this new file]:file:_files' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:file:_files'
return ;;
aftercare)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to contact first, to find the others]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--journal=[Only the partitions that this journal'\''s run elected; the journal also gets what is found and done]:journal:{_kafka_unclean_recovery__journals}' \
    '--last[Take the journal of this user'\''s last run that elected, out of the state directory]' \
    '--topics=[Only topics whose whole name matches this regular expression of Python'\''s re; by default all topics]:topics:{_kafka_unclean_recovery__ask topics}' \
    '--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '*--log-dirs=[Log directory of a dead broker, which is read now]:directory:_files -/' \
    '*--replica-info-file=[File that scan-log-dirs --output wrote, on this machine or another]:file:_files' \
    '--gone=[Ids of brokers whose disks are lost for good, such as 1,2; by default none]:down-brokers:{_kafka_unclean_recovery__ask down-brokers}' \
    '--end-transactions[End the hanging transactions whose outcome their coordinators know for certain]' \
    '--reset-share-groups[Set the share groups that had read beyond the new log ends back to where the logs part]' \
    '--watch[Look again every second until nothing is left three times in a row]' \
    '--watch-duration-ms=[How long --watch may take, in milliseconds; by default 600000]:value: ' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--metrics-file=[Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced]:file:_files' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
before-start)
shift words; ((CURRENT--))
_arguments \
    '*--log-dirs=[Log directory of the broker that is to start]:directory:_files -/' \
    '--bootstrap-server=[Brokers to contact first, to find the others]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '*--replica-info-file=[File that scan-log-dirs --output wrote, on this machine or another]:file:_files' \
    '--gone=[Ids of brokers whose disks are lost for good, such as 1,2; by default none]:down-brokers:{_kafka_unclean_recovery__ask down-brokers}' \
    '--journal=[Journal of the run that elected, which also gets what is found or done here, for the command report]:journal:{_kafka_unclean_recovery__journals}' \
    '--plan-output-file=[Write the leaders of the replicas that are truncated to this new file, for salvage --plan]:file:_files' \
    '--commands-file=[Write the commands that keep what the start would delete to this new file, as a shell script]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--topics=[Only topics whose whole name matches this regular expression of Python'\''s re; by default all topics]:topics:{_kafka_unclean_recovery__ask topics}' \
    '--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--metrics-file=[Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced]:file:_files' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
start-order)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to contact first, to find the others]:value: ' \
    '--bootstrap-controller=[Controllers to ask before any broker runs, in place of a scan of a controller'\''s log directory  give all of them]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '*--replica-info-file=[File that scan-log-dirs --output wrote, on this machine or another]:file:_files' \
    '*--log-dirs=[Log directory of a dead broker, which is read now]:directory:_files -/' \
    '--gone=[Ids of brokers whose disks are lost for good, such as 1,2; by default none]:down-brokers:{_kafka_unclean_recovery__ask down-brokers}' \
    '--later=[Ids of brokers that can be started only after all others, such as 1,2; by default none]:down-brokers:{_kafka_unclean_recovery__ask down-brokers}' \
    '--elections-file=[Write the partitions of the first election to this new file, for --path-to-json-file]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
bundle)
shift words; ((CURRENT--))
_arguments \
    '--output=[Write the archive (.tar.gz) to this new file]:file:_files' \
    '--bootstrap-server=[Brokers to contact first, to find the others]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '*--replica-info-file=[File that scan-log-dirs --output wrote, on this machine or another]:file:_files' \
    '--mask-names[Write topic-1, group-1, host-1 and so on instead of names, also in sentences]' \
    '--recovery-duration-ms=[How long brokers may take to say how far their replicas go, in milliseconds]:value: ' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
report)
shift words; ((CURRENT--))
_arguments \
    '--last[Take the journal of this user'\''s last run that elected, out of the state directory]' \
    '*--copy=[Copy of the journal, to which commands on another host added what they found  the report tells of that, too]:journal:{_kafka_unclean_recovery__journals}' \
    '--markdown[Same as --format markdown]' \
    '--html[Same as --format html]' \
    '--json[Same as --format json]' \
    '--format=[Format of the report; by default markdown, and on a terminal what fits into its window]:value:(markdown html json)' \
    '--output=[Write the report to this new file; by default to stdout]:file:_files' \
    '--gone=[Ids of brokers whose disks are lost for good, such as 1,2; by default none]:value: ' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:journal:{_kafka_unclean_recovery__journals}'
return ;;
salvage)
shift words; ((CURRENT--))
if ((CURRENT > 2)); then case "$words[2]" in
replay)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to contact first, to find the others]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--topics=[Only topics whose whole name matches this regular expression of Python'\''s re; by default all topics]:topics:{_kafka_unclean_recovery__ask topics}' \
    '--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--target=[Name of the target topic; {topic} stands for the topic that the records were in]:value: ' \
    '--include-open[Also produce records of transactions whose end is not among the saved records]' \
    '--checkpoint=[File that notes what has been produced; by default SAVED.replay-checkpoint]:file:_files' \
    '--journal=[Journal of the run that elected, which also gets what is found or done here, for the command report]:journal:{_kafka_unclean_recovery__journals}' \
    '--execute[Produce the records; by default the command only shows them]' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:directory:_files -/'
return ;;
offsets)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to contact first, to find the others]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '*--group=[Look only at this group; may be repeated]:value: ' \
    '--backwards[Also bring commits back that lie below what the group has committed now  it reads again from there]' \
    '--without-epoch[Also bring commits back whose records tell no leader epoch, as those of old clients  if an election replaced records, the group passes over the new ones]' \
    '--journal=[Journal of the run that elected, which also gets what is found or done here, for the command report]:journal:{_kafka_unclean_recovery__journals}' \
    '--plan[Change nothing, and show the commits; this is the default]' \
    '--execute[Bring the commits back; on a terminal the command asks first]' \
    '--yes[Do not ask on a terminal]' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:directory:_files -/'
return ;;
esac; fi
_arguments \
    '1:command:(replay offsets)' \
    '(1)*--log-dirs=[Log directory of a dead broker, which is read now]:directory:_files -/' \
    '(1)*--replica-info-file=[File that scan-log-dirs --output wrote, on this machine or another]:file:_files' \
    '(1)--plan=[Plan that --plan-output-file wrote; it names the designated leaders and the ends of their logs]:file:_files' \
    '(1)--journal=[In place of --plan  the journal of the run that elected]:file:_files' \
    '(1)--output=[Write all results to this new directory, which must not exist]:directory:_files -/' \
    '(1)--manual-recovery-file=[File of designated leaders, as kafka-elect-leaders takes it, for partitions where another leader than the plan'\''s was elected]:file:_files' \
    '(1)--raw-only[Write only segment files, and no Parquet files, which need pyarrow]' \
    '(1)--format=[Format of the result on stdout]:value:(table wide json)' \
    '(1)--topics=[Only topics whose whole name matches this regular expression of Python'\''s re; by default all topics]:value: ' \
    '(1)--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '(1)--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '(1)--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '(1)--help[Show this message and exit]'
return ;;
spark)
shift words; ((CURRENT--))
if ((CURRENT > 2)); then case "$words[2]" in
scan)
shift words; ((CURRENT--))
_arguments \
    '--output=[Directory for the tables and for the progress of the scan  a path that driver and executors all have, or a URL that begins with s3 //, gs //, abfs // or hdfs //]:directory:_files -/' \
    '--roots-table=[CSV or Parquet file with a column root, which names a log directory in each row]:file:_files' \
    '--leave-out=[CSV or Parquet file with a column root, which names a log directory in each row that does not count, such as one of another cluster]:file:_files' \
    '--rescan[Remove what earlier runs of the same scan left in --output, and read everything again]' \
    '--mode=[How much of the logs is read]:value:(fast recover deep)' \
    '--topics=[Only topics whose whole name matches this regular expression of Python'\''s re; by default all topics]:value: ' \
    '--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--store-endpoint=[Address of the object store; by default the public service of its provider]:value: ' \
    '--store-region=[Region of the S3 bucket; by default the S3 client'\''s own setting]:value: ' \
    '--master=[Spark master as for spark-submit, or sc //HOST PORT for Spark Connect; by default the master of spark-submit, else local(*)]:value: ' \
    '*--conf=[Spark setting]:value: ' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:directory:_files -/'
return ;;
plan)
shift words; ((CURRENT--))
_arguments \
    '*--summaries=[Directory that spark scan --output wrote, or its URL]:directory:_files -/' \
    '--manual-recovery-output-file=[Write the designated leaders to this new file, for kafka-elect-leaders]:file:_files' \
    '--plan-output-file=[Write the plan, with all data that it rests on, to this new file]:file:_files' \
    '--exclude-brokers=[Ids of brokers that will never start again and must not lead, such as 1,2; by default none]:value: ' \
    '--store-endpoint=[Address of the object store; by default the public service of its provider]:value: ' \
    '--store-region=[Region of the S3 bucket; by default the S3 client'\''s own setting]:value: ' \
    '--html=[Write an HTML page of the losses by topic, and of the partitions that lose most, to this new file]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--master=[Spark master as for spark-submit, or sc //HOST PORT for Spark Connect; by default the master of spark-submit, else local(*)]:value: ' \
    '*--conf=[Spark setting]:value: ' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
salvage)
shift words; ((CURRENT--))
_arguments \
    '*--summaries=[Directory that spark scan --output wrote, or its URL]:directory:_files -/' \
    '--plan=[Plan that --plan-output-file wrote; it names the designated leaders and the ends of their logs]:file:_files' \
    '--output=[Write all results to this new directory, which must not exist]:directory:_files -/' \
    '--manual-recovery-file=[File of designated leaders, as kafka-elect-leaders takes it, for partitions where another leader than the plan'\''s was elected]:file:_files' \
    '--raw-only[Write only segment files, and no Parquet files, which need pyarrow]' \
    '--topics=[Only topics whose whole name matches this regular expression of Python'\''s re; by default all topics]:value: ' \
    '--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--store-endpoint=[Address of the object store; by default the public service of its provider]:value: ' \
    '--store-region=[Region of the S3 bucket; by default the S3 client'\''s own setting]:value: ' \
    '--master=[Spark master as for spark-submit, or sc //HOST PORT for Spark Connect; by default the master of spark-submit, else local(*)]:value: ' \
    '*--conf=[Spark setting]:value: ' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
esac; fi
_arguments \
    '1:command:(scan plan salvage)' \
    '(1)--help[Show this message and exit]'
return ;;
quorum)
shift words; ((CURRENT--))
if ((CURRENT > 2)); then case "$words[2]" in
inspect)
shift words; ((CURRENT--))
_arguments \
    '*--replica-info-file=[Result of scan-log-dirs of brokers whose disks are not among DIR  what it tells of replicas is held against the best copy]:file:_files' \
    '--bootstrap-server=[Brokers that still run; by default none is asked]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:directory:_files -/'
return ;;
plan)
shift words; ((CURRENT--))
_arguments \
    '--new-controller=[Controller to be made]:value: ' \
    '--plan-output-file=[Write the plan to this new file]:file:_files' \
    '--lost-controllers=[Voters that are gone for good]:value: ' \
    '--without-copies-of=[Brokers and controllers whose copies can'\''t be read]:value: ' \
    '--unreachable-controllers=[Lost controllers that are known to be gone although their addresses can'\''t be reached from here]:value: ' \
    '--controller-quorum-voters=[The line controller.quorum.voters of the lost cluster; needed where its log does not tell the voters or their addresses]:value: ' \
    '--controller-listener-name=[The name in controller.listener.names]:value: ' \
    '--cluster-id=[The cluster.id of any node'\''s meta.properties; needed where metadata directories alone are given and no broker runs]:value: ' \
    '--untried-metadata-version=[Plan although the recovery was not tried with this level of metadata.version]:value: ' \
    '*--replica-info-file=[Result of scan-log-dirs of brokers whose disks are not among DIR  what it tells of replicas is held against the best copy]:file:_files' \
    '--bootstrap-server=[Brokers that still run; by default none is asked]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:directory:_files -/'
return ;;
seed)
shift words; ((CURRENT--))
_arguments \
    '--plan=[Plan that quorum plan wrote]:file:_files' \
    '--output-dir=[Write it to this new directory  log.dirs of the new controller]:directory:_files -/' \
    '--require-approval=[Write nothing without this approval of the plan, which another user gave with approve]:file:_files' \
    '--yes[Do not ask on a terminal]' \
    '--journal=[File in which each step is written before it is taken; by default a new file under kafka-unclean-recovery in $XDG_STATE_HOME or $HOME/.local/state]:file:_files' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
verify)
shift words; ((CURRENT--))
_arguments \
    '--plan=[Plan that quorum plan wrote]:file:_files' \
    '--bootstrap-controller=[The new controller]:value: ' \
    '--bootstrap-server=[Brokers that still run; by default none is asked]:value: ' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--controller-command-config=[Java client properties file for the controllers; by default that of --command-config]:file:_files' \
    '*--log-dirs=[Log directory of a broker on this host, or a directory that holds several  is there a partition that the broker put aside (-stray)? Only read; by default none is looked at]:directory:_files -/' \
    '--timeout-ms=[How long to wait until all holds]:value: ' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]'
return ;;
esac; fi
_arguments \
    '1:command:(inspect plan seed verify)' \
    '(1)--help[Show this message and exit]'
return ;;
emulator)
shift words; ((CURRENT--))
if ((CURRENT > 2)); then case "$words[2]" in
scenarios)
shift words; ((CURRENT--))
_arguments \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:value:(last-replica-standing lost-answer parted-leader power-cut stale-tail)'
return ;;
ctl)
shift words; ((CURRENT--))
_arguments \
    '--data-dir=[Data directory of the emulator, as in its --data-dir; give this or --socket]:directory:_files -/' \
    '--socket=[Control socket, which the emulator printed as control.socket; give this or --data-dir]:file:_files' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--help[Show this message and exit]' \
    '*:value:(create-topic delete-topic alter-configs alter-broker-configs produce share-group elect-leaders reassign kill power-off stop drain start pause resume unregister-broker fence unfence flush lose-disk wipe exchange-disk corrupt-disk drop-link delay-link restore-link restore-links lag lag-metadata lead-astray unlist list-again intercept clear-intercepts wait-until status metrics help)'
return ;;
esac; fi
_arguments \
    '1:command:(scenarios ctl)' \
    '(1)--brokers=[Number of brokers; by default 4]:value: ' \
    '(1)--log-directories=[Number of log directories of each broker; by default 1]:value: ' \
    '(1)--from-bundle=[Archive of bundle  the emulated cluster has the cluster id, the offline partitions and the logs that its plan tells of, to rehearse that plan]:file:_files' \
    '(1)--scenario=[Commands to carry out first  a name that `emulator scenarios` lists, or a file with one on each line, as for ctl]:file:_files' \
    '(1)--data-dir=[Directory where the cluster is kept; a cluster that is already there is continued]:directory:_files -/' \
    '(1)--release=[Kafka release whose controller is emulated]:value:(4.4.0 4.3.1 3.9.1 kip-966)' \
    '(1)--dialect=[Form of GetReplicaLogInfo that the brokers speak; by default none]:value:(kip-966 reverted kip-1275)' \
    '(1)--broker-session-timeout-ms=[Milliseconds after which a silent broker is fenced]:value: ' \
    '(1)--replica-lag-time-max-ms=[Milliseconds after which a lagging replica leaves the ISR]:value: ' \
    '(1)--format=[Format of the result on stdout]:value:(table wide json)' \
    '(1)--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '(1)--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '(1)--help[Show this message and exit]'
return ;;
esac; fi
_arguments \
    '1:command:(scan-log-dirs plan doctor ok-to-stop watch explain approve aftercare before-start start-order bundle report salvage spark quorum emulator)' \
    '(1)--bootstrap-server=[Brokers to contact first, to find the others; required unless a command is given]:value: ' \
    '(1)--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '(1)--all-offline-partitions[All partitions without a leader; give this or --path-to-json-file]' \
    '(1)--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '(1)--topics=[Only topics whose whole name matches this regular expression of Python'\''s re; by default all topics]:topics:{_kafka_unclean_recovery__ask topics}' \
    '(1)--show-replica-info[Show how far each replica'\''s log goes]' \
    '(1)--manual-recovery-output-file=[Write the designated leaders to this new file, for kafka-elect-leaders, and elect nothing]:file:_files' \
    '(1)--automated-recovery[Elect the designated leaders]' \
    '(1)--recovery-duration-ms=[How long brokers may take to say how far their replicas go, in milliseconds; a broker that does not answer in time is not considered]:value: ' \
    '(1)--recovery-election-attempts=[How many times elections that failed for a temporary reason are tried again]:value: ' \
    '(1)--wait-for-brokers=[Wait for brokers that are down, such as 1,2, or for all, at most for --recovery-duration-ms; by default the command does not wait]:offline-brokers:{_kafka_unclean_recovery__ask offline-brokers}' \
    '(1)--gone=[Ids of brokers whose disks are lost for good, such as 1,2; by default none]:down-brokers:{_kafka_unclean_recovery__ask down-brokers}' \
    '(1)--format=[Format of the result on stdout]:value:(table wide json ladder)' \
    '(1)--yes[Elect without asking for consent]' \
    '(1)*--accept-loss=[Elect a partition of the topic only if its certain loss is known and at most MAX_RECORDS; a topic without a number accepts any loss]:topics:{_kafka_unclean_recovery__ask topics}' \
    '(1)*--give-up-log=[Where all replicas of this partition are lost for good  give up every record that it had, and start it anew, empty, on live brokers]:value: ' \
    '(1)*--end-reassignment=[Where this partition, or one of this topic, lost its leader during a reassignment  give the reassignment up, and elect the best of the replicas from before it]:value: ' \
    '(1)--canary=[Elect and verify N partitions first, and stop if an election failed or did not last]:value: ' \
    '(1)--wave-size=[Elect and verify at most N partitions at a time, and stop if an election failed or did not last]:value: ' \
    '(1)--plan=[Elect only partitions that are still as in this plan, which --plan-output-file wrote]:file:_files' \
    '(1)--require-approval=[Elect only if another user approved the plan of --plan; the command approve writes this file]:file:_files' \
    '(1)--journal=[File in which each step is written before it is taken; by default a new file under kafka-unclean-recovery in $XDG_STATE_HOME or $HOME/.local/state]:file:_files' \
    '(1)*--ignore-journal=[Elect even if this journal of an earlier run can'\''t be read]:file:_files' \
    '(1)--salvage-dir=[Before electing, save the records that live replicas would lose to this new directory]:directory:_files -/' \
    '(1)--raw-only[Write only segment files, and no Parquet files, which need pyarrow]' \
    '(1)--allow-loss[Also elect partitions whose records --salvage-dir could not save]' \
    '(1)--resume=[Only finish what the run of this journal left half done]:journal:{_kafka_unclean_recovery__journals}' \
    '(1)*--keep-order=[With --resume  leave the replica order of this partition as it is, and note that in the journal; for an order that can'\''t be put back]:value: ' \
    '(1)--plan-output-file=[Write the plan, with all data that it rests on, to this new file]:file:_files' \
    '(1)*--replica-info-file=[File that scan-log-dirs --output wrote, on this machine or another]:file:_files' \
    '(1)*--log-dirs=[Log directory of a dead broker, which is read now]:directory:_files -/' \
    '(1)--transport=[How brokers are asked how far their replicas'\'' logs go]:value:(auto replica-log-info list-offsets)' \
    '(1)--election-method=[How a designated leader is elected]:value:(auto designated reorder)' \
    '(1)--replica-log-info-dialect=[The form of GetReplicaLogInfo that the brokers speak; by default real brokers are not sent this request]:value:(kip-966 reverted kip-1275)' \
    '(1)--metrics-file=[Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced]:file:_files' \
    '(1)--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_unclean_recovery__ask clusters}' \
    '(1)--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '(1)--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '(1)--version[Show the version]' \
    '(1)--help[Show this message and exit]'

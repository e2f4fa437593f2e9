#compdef kafka-unclean-recovery
local -a typed=("${words[@]}"); local -i typing=CURRENT
_kafka_unclean_recovery__ask() {
    local -a found
    found=("${(@f)$("${(Q)typed[1]}" complete $1 -- \
        "${(j: :)typed[1,typing-1]} $PREFIX" < /dev/null 2> /dev/null)}")
    compadd -- "${(@)found:#}"
}
if ((CURRENT > 2)); then case "$words[2]" in
scan-log-dirs)
shift words; ((CURRENT--))
_arguments \
    '--mode=[How much is read]:value:(fast recover deep)' \
    '--workers=[Processes that read at a time; by default the processors, at most 4]:value: ' \
    '--output=[Write the JSON, for --replica-info-file of other commands]:file:_files' \
    '--format=[What stdout gets]:value:(table json)' \
    '--topics=[Only topics whose whole name matches (Python'\''s re)]:value: ' \
    '--path-to-json-file=[The partitions, as {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--metrics-file=[Write metrics of this run there, in Prometheus'\'' text format, however it ends; such a file of an earlier run is replaced]:file:_files' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]' \
    '*:directory:_files -/'
return ;;
plan)
shift words; ((CURRENT--))
_arguments \
    '--manual-recovery-output-file=[Write the designated leaders, for kafka-elect-leaders]:file:_files' \
    '*--replica-info-file=[What scan-log-dirs --output wrote, here or elsewhere; may be given again]:file:_files' \
    '*--log-dirs=[Log directories of dead brokers to read now; may be given again]:directory:_files -/' \
    '--mode=[How much is read]:value:(fast recover deep)' \
    '--exclude-brokers=[Brokers that will never start again, as in 1,2  none will lead]:value: ' \
    '--plan-output-file=[Write the plan with all that it rests on]:file:_files' \
    '--format=[What stdout gets]:value:(table json)' \
    '--topics=[Only topics whose whole name matches (Python'\''s re)]:value: ' \
    '--path-to-json-file=[The partitions, as {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--metrics-file=[Write metrics of this run there, in Prometheus'\'' text format, however it ends; such a file of an earlier run is replaced]:file:_files' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]'
return ;;
doctor)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to connect to first]:value: ' \
    '--command-config=[Java client properties  TLS, SASL, client.id]:file:_files' \
    '--format=[What stdout gets]:value:(table json)' \
    '--timeout-ms=[How long each question may take]:value: ' \
    '--salvage-dir=[Where a salvage would be written  its room is checked]:directory:_files -/' \
    '--transport=[How replicas are asked how far they go]:value:(auto replica-log-info list-offsets)' \
    '--election-method=[How a designated leader is elected]:value:(auto designated reorder)' \
    '--replica-log-info-dialect=[What the brokers understand by GetReplicaLogInfo, which is sent with this key  kip-966 (krabka too) 1020, kip-1275 1275, reverted 93]:value:(kip-966 reverted kip-1275)' \
    '--metrics-file=[Write metrics of this run there, in Prometheus'\'' text format, however it ends; such a file of an earlier run is replaced]:file:_files' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]'
return ;;
approve)
shift words; ((CURRENT--))
_arguments \
    '--output=[Where the approval is written]:file:_files' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]' \
    '*:file:_files'
return ;;
aftercare)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to connect to first]:value: ' \
    '--command-config=[Java client properties  TLS, SASL, client.id]:file:_files' \
    '--journal=[Only the partitions that this journal'\''s runs elected; markers are noted there]:file:_files' \
    '--topics=[Only topics whose whole name matches (Python'\''s re)]:topics:{_kafka_unclean_recovery__ask topics}' \
    '--path-to-json-file=[The partitions, as {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '*--log-dirs=[Log directories of dead brokers to read now; may be given again]:directory:_files -/' \
    '*--replica-info-file=[What scan-log-dirs --output wrote, here or elsewhere; may be given again]:file:_files' \
    '--end-transactions[End hanging transactions whose ending their coordinators know for sure]' \
    '--watch[Look again until it is over three times in a row]' \
    '--watch-duration-ms=[How long --watch may take; 600000 by default]:value: ' \
    '--format=[What stdout gets]:value:(table json)' \
    '--metrics-file=[Write metrics of this run there, in Prometheus'\'' text format, however it ends; such a file of an earlier run is replaced]:file:_files' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]'
return ;;
report)
shift words; ((CURRENT--))
_arguments \
    '--markdown[As --format markdown]' \
    '--html[As --format html]' \
    '--json[As --format json]' \
    '--format=[markdown  for a ticket; the default]:value:(markdown html json)' \
    '--output=[Where it goes, instead of stdout]:file:_files' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]' \
    '*:file:_files'
return ;;
salvage)
shift words; ((CURRENT--))
if ((CURRENT > 2)); then case "$words[2]" in
replay)
shift words; ((CURRENT--))
_arguments \
    '--bootstrap-server=[Brokers to connect to first]:value: ' \
    '--command-config=[Java client properties  TLS, SASL, client.id]:file:_files' \
    '--topics=[Only topics whose whole name matches (Python'\''s re)]:topics:{_kafka_unclean_recovery__ask topics}' \
    '--path-to-json-file=[The partitions, as {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--target=[Where records go; {topic} is the topic they were in]:value: ' \
    '--include-open[Produce records of transactions without an end here, too]' \
    '--checkpoint=[What has been produced; by default beside SAVED, by its name]:file:_files' \
    '--execute[Produce; else it is only shown what would be]' \
    '--format=[What stdout gets]:value:(table json)' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]' \
    '*:directory:_files -/'
return ;;
esac; fi
_arguments \
    '1:command:(replay)' \
    '(1)*--log-dirs=[Log directories of dead brokers to read now; may be given again]:directory:_files -/' \
    '(1)*--replica-info-file=[What scan-log-dirs --output wrote, here or elsewhere; may be given again]:file:_files' \
    '(1)--plan=[What --plan-output-file wrote  who is to lead, and how far its log goes]:file:_files' \
    '(1)--output=[Where all goes; it must not exist]:directory:_files -/' \
    '(1)--manual-recovery-file=[Designated leaders as they were elected, where they are not the plan'\''s]:file:_files' \
    '(1)--raw-only[Write segment files only, no Parquet, which needs pyarrow]' \
    '(1)--format=[What stdout gets]:value:(table json)' \
    '(1)--topics=[Only topics whose whole name matches (Python'\''s re)]:value: ' \
    '(1)--path-to-json-file=[The partitions, as {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '(1)--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '(1)--help[Show this message and exit]'
return ;;
spark)
shift words; ((CURRENT--))
if ((CURRENT > 2)); then case "$words[2]" in
scan)
shift words; ((CURRENT--))
_arguments \
    '--output=[Where the tables go, and what is done so far; driver and executors must have it under the same path]:directory:_files -/' \
    '--roots-table=[CSV or Parquet with a column root, such as one row a broker disk]:file:_files' \
    '--mode=[How much is read]:value:(fast recover deep)' \
    '--topics=[Only topics whose whole name matches (Python'\''s re)]:value: ' \
    '--path-to-json-file=[The partitions, as {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--store-endpoint=[Of an object store that is not its maker'\''s own]:value: ' \
    '--store-region=[Of an S3 bucket]:value: ' \
    '--master=[As spark-submit has it, or sc //HOST PORT; by default spark-submit'\''s, else local(*)]:value: ' \
    '*--conf=[A setting of Spark; may be given again]:value: ' \
    '--format=[What stdout gets]:value:(table json)' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]' \
    '*:directory:_files -/'
return ;;
plan)
shift words; ((CURRENT--))
_arguments \
    '*--summaries=[What spark scan --output wrote; may be given again]:directory:_files -/' \
    '--manual-recovery-output-file=[Write the designated leaders, for kafka-elect-leaders]:file:_files' \
    '--plan-output-file=[Write the plan with all that it rests on]:file:_files' \
    '--exclude-brokers=[Brokers that will never start again, as in 1,2  none will lead]:value: ' \
    '--html=[Write what is lost, by topic and partition, as a page]:file:_files' \
    '--format=[What stdout gets]:value:(table json)' \
    '--master=[As spark-submit has it, or sc //HOST PORT; by default spark-submit'\''s, else local(*)]:value: ' \
    '*--conf=[A setting of Spark; may be given again]:value: ' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]'
return ;;
salvage)
shift words; ((CURRENT--))
_arguments \
    '*--summaries=[What spark scan --output wrote; may be given again]:directory:_files -/' \
    '--plan=[What --plan-output-file wrote  who is to lead, and how far its log goes]:file:_files' \
    '--output=[Where all goes; it must not exist]:directory:_files -/' \
    '--manual-recovery-file=[Designated leaders as they were elected, where they are not the plan'\''s]:file:_files' \
    '--raw-only[Write segment files only, no Parquet, which needs pyarrow]' \
    '--topics=[Only topics whose whole name matches (Python'\''s re)]:value: ' \
    '--path-to-json-file=[The partitions, as {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '--store-endpoint=[Of an object store that is not its maker'\''s own]:value: ' \
    '--store-region=[Of an S3 bucket]:value: ' \
    '--master=[As spark-submit has it, or sc //HOST PORT; by default spark-submit'\''s, else local(*)]:value: ' \
    '*--conf=[A setting of Spark; may be given again]:value: ' \
    '--format=[What stdout gets]:value:(table json)' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]'
return ;;
esac; fi
_arguments \
    '1:command:(scan plan salvage)' \
    '(1)--help[Show this message and exit]'
return ;;
emulator)
shift words; ((CURRENT--))
if ((CURRENT > 2)); then case "$words[2]" in
ctl)
shift words; ((CURRENT--))
_arguments \
    '--data-dir=[The --data-dir of the emulator]:directory:_files -/' \
    '--socket=[The control.socket that it printed]:file:_files' \
    '--format=[What stdout gets]:value:(table json)' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--help[Show this message and exit]' \
    '*:value:(create-topic delete-topic alter-configs alter-broker-configs produce elect-leaders kill power-off stop start pause resume fence unfence flush lose-disk wipe corrupt-disk drop-link delay-link restore-link restore-links lag lag-metadata intercept clear-intercepts wait-until status metrics help)'
return ;;
esac; fi
_arguments \
    '1:command:(ctl)' \
    '(1)--brokers=[How many]:value: ' \
    '(1)--log-directories=[How many disks a broker has]:value: ' \
    '(1)--scenario=[Commands to carry out first, one a line, as for ctl]:file:_files' \
    '(1)--data-dir=[Where the cluster is kept]:directory:_files -/' \
    '(1)--release=[Whose controller it has]:value:(4.3.1 3.9.1 kip-966)' \
    '(1)--dialect=[The dialect of GetReplicaLogInfo that brokers speak; by default none]:value:(kip-966 reverted kip-1275)' \
    '(1)--broker-session-timeout-ms=[After which a silent broker is fenced]:value: ' \
    '(1)--replica-lag-time-max-ms=[After which a lagging replica leaves the ISR]:value: ' \
    '(1)--format=[What stdout gets]:value:(table json)' \
    '(1)--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '(1)--help[Show this message and exit]'
return ;;
esac; fi
_arguments \
    '1:command:(scan-log-dirs plan doctor approve aftercare report salvage spark emulator)' \
    '(1)--bootstrap-server=[Brokers to connect to first; required without a command]:value: ' \
    '(1)--command-config=[Java client properties  TLS, SASL, client.id]:file:_files' \
    '(1)--all-offline-partitions[Every partition without a leader]' \
    '(1)--path-to-json-file=[The partitions, as {"partitions"  ({"topic"  "foo", "partitions"  (0, 3)})}]:file:_files' \
    '(1)--show-replica-info[Show how far each replica'\''s log goes]' \
    '(1)--manual-recovery-output-file=[Write the designated leaders, for kafka-elect-leaders, and elect nothing]:file:_files' \
    '(1)--automated-recovery[Elect the designated leaders]' \
    '(1)--recovery-duration-ms=[How long brokers may take to answer]:value: ' \
    '(1)--recovery-election-attempts=[Retries of elections that fail in passing]:value: ' \
    '(1)--wait-for-brokers=[Wait, within the duration, for brokers that are down  1,2 or all]:offline-brokers:{_kafka_unclean_recovery__ask offline-brokers}' \
    '(1)--format=[What stdout gets]:value:(table json ladder)' \
    '(1)--yes[Elect without asking on a terminal]' \
    '(1)*--accept-loss=[Refuse partitions whose certain loss is above that of their topic, or unknown, and those whose topic is not named; * is any other topic]:topics:{_kafka_unclean_recovery__ask topics}' \
    '(1)--canary=[Elect N partitions and verify them before the others; a surprise stops it]:value: ' \
    '(1)--wave-size=[Elect N partitions at a time and verify them; a surprise stops it]:value: ' \
    '(1)--plan=[Elect only what is still as in this plan of --plan-output-file]:file:_files' \
    '(1)--require-approval=[Elect only if another user approved --plan (see approve)]:file:_files' \
    '(1)--journal=[Where each step is noted before it is taken]:file:_files' \
    '(1)*--ignore-journal=[Elect although this journal of an earlier run can'\''t be read; may be given again]:file:_files' \
    '(1)--salvage-dir=[Before electing, save there what live replicas would lose; where that fails, nobody is elected]:directory:_files -/' \
    '(1)--allow-loss[Elect where --salvage-dir could not save all, too]' \
    '(1)--resume=[Only finish what the run of this journal left]:file:_files' \
    '(1)--plan-output-file=[Write the plan with all that it rests on]:file:_files' \
    '(1)*--replica-info-file=[What scan-log-dirs --output wrote, here or elsewhere; may be given again]:file:_files' \
    '(1)*--log-dirs=[Log directories of dead brokers to read now; may be given again]:directory:_files -/' \
    '(1)--transport=[How replicas are asked how far they go]:value:(auto replica-log-info list-offsets)' \
    '(1)--election-method=[How a designated leader is elected]:value:(auto designated reorder)' \
    '(1)--replica-log-info-dialect=[What the brokers understand by GetReplicaLogInfo, which is sent with this key  kip-966 (krabka too) 1020, kip-1275 1275, reverted 93]:value:(kip-966 reverted kip-1275)' \
    '(1)--metrics-file=[Write metrics of this run there, in Prometheus'\'' text format, however it ends; such a file of an earlier run is replaced]:file:_files' \
    '(1)--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '(1)--version[Show the version]' \
    '(1)--help[Show this message and exit]'

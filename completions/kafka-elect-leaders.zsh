#compdef kafka-elect-leaders
local -a typed=("${words[@]}"); local -i typing=CURRENT
_kafka_elect_leaders__ask() {
    local -a found
    found=("${(@f)$("${${(Q)typed[1]}%kafka-elect-leaders}kafka-unclean-recovery" complete $1 -- \
        "${(j: :)typed[1,typing-1]} $PREFIX" < /dev/null 2> /dev/null)}")
    compadd -- "${(@)found:#}"
}
_arguments \
    '--bootstrap-server=[Brokers to connect to first]:value: ' \
    '--election-type=[preferred  the first replica, if another one leads]:value:(preferred unclean designated)' \
    '--command-config=[Java client properties  TLS, SASL, client.id]:file:_files' \
    '--admin.config=[Java client properties  TLS, SASL, client.id]:file:_files' \
    '--path-to-json-file=[{"partitions"  ({"topic"  "foo", "partition"  1, "designatedLeader"  0})}; designatedLeader (or desiredLeader) is for designated elections]:file:_files' \
    '--topic=[With --partition  one partition]:topics:{_kafka_elect_leaders__ask topics}' \
    '--partition=[With --topic]:value: ' \
    '--all-topic-partitions[Every partition]' \
    '--recovery-duration-ms=[designated  how long brokers may take to answer]:value: ' \
    '--recovery-election-attempts=[Retries of elections that fail in passing]:value: ' \
    '--format=[What stdout gets]:value:(table json)' \
    '*--accept-loss=[Refuse partitions whose certain loss is above that of their topic, or unknown, and those whose topic is not named; * is any other topic]:topics:{_kafka_elect_leaders__ask topics}' \
    '--canary=[Elect N partitions and verify them before the others; a surprise stops it]:value: ' \
    '--wave-size=[Elect N partitions at a time and verify them; a surprise stops it]:value: ' \
    '--journal=[Where each step is noted before it is taken]:file:_files' \
    '*--ignore-journal=[Elect although this journal of an earlier run can'\''t be read; may be given again]:file:_files' \
    '--transport=[How replicas are asked how far they go]:value:(auto replica-log-info list-offsets)' \
    '--election-method=[How a designated leader is elected]:value:(auto designated reorder)' \
    '--replica-log-info-dialect=[What the brokers understand by GetReplicaLogInfo, which is sent with this key  kip-966 (krabka too) 1020, kip-1275 1275, reverted 93]:value:(kip-966 reverted kip-1275)' \
    '--metrics-file=[Write metrics of this run there, in Prometheus'\'' text format, however it ends; such a file of an earlier run is replaced]:file:_files' \
    '--log-format=[What stderr gets  text, or a JSON object for each sentence]:value:(text json)' \
    '--version[Show the version]' \
    '--help[Show this message and exit]'

#compdef kafka-elect-leaders
local -a typed=("${words[@]}"); local -i typing=CURRENT
_kafka_elect_leaders__ask() {
    local -a found
    found=("${(@f)$("${${(Q)typed[1]}%kafka-elect-leaders}kafka-unclean-recovery" complete $1 -- \
        "${(j: :)typed[1,typing-1]} $PREFIX" < /dev/null 2> /dev/null)}")
    compadd -- "${(@)found:#}"
}
_kafka_elect_leaders__journals() {
    _files
    [[ -n $PREFIX ]] || compadd -f --         ${XDG_STATE_HOME:-~/.local/state}/kafka-unclean-recovery/*/*.jsonl(N)
}
_arguments \
    '--bootstrap-server=[Brokers to contact first, to find the others]:value: ' \
    '--election-type=[Which replica is elected]:value:(preferred unclean designated)' \
    '--command-config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--admin.config=[Java client properties file for the connection, such as TLS and SASL; by default connections are plaintext]:file:_files' \
    '--path-to-json-file=[Only the partitions in this JSON file  {"partitions"  ({"topic"  "foo", "partition"  1, "designatedLeader"  0})}]:file:_files' \
    '--topic=[Topic of the one partition; needs --partition]:topics:{_kafka_elect_leaders__ask topics}' \
    '--partition=[Number of the one partition; needs --topic]:value: ' \
    '--all-topic-partitions[All partitions of all topics]' \
    '--recovery-duration-ms=[How long brokers may take to say how far their replicas go, in milliseconds; only for designated elections]:value: ' \
    '--recovery-election-attempts=[How many times elections that failed for a temporary reason are tried again]:value: ' \
    '--format=[Format of the result on stdout]:value:(table wide json)' \
    '*--accept-loss=[Elect a partition of the topic only if its certain loss is known and at most MAX_RECORDS; a topic without a number accepts any loss]:topics:{_kafka_elect_leaders__ask topics}' \
    '--canary=[Elect and verify N partitions first, and stop if an election failed or did not last]:value: ' \
    '--wave-size=[Elect and verify at most N partitions at a time, and stop if an election failed or did not last]:value: ' \
    '--journal=[File in which each step is written before it is taken; by default a new file under kafka-unclean-recovery in $XDG_STATE_HOME or $HOME/.local/state]:file:_files' \
    '*--ignore-journal=[Elect even if this journal of an earlier run can'\''t be read]:file:_files' \
    '--transport=[How brokers are asked how far their replicas'\'' logs go]:value:(auto replica-log-info list-offsets)' \
    '--election-method=[How a designated leader is elected]:value:(auto designated reorder)' \
    '--replica-log-info-dialect=[The form of GetReplicaLogInfo that the brokers speak; by default real brokers are not sent this request]:value:(kip-966 reverted kip-1275)' \
    '--metrics-file=[Write metrics of this run to this file, in the Prometheus text format, however the run ends; metrics of an earlier run in the file are replaced]:file:_files' \
    '--cluster=[Cluster in clusters.toml, in place of --bootstrap-server and --command-config]:clusters:{_kafka_elect_leaders__ask clusters}' \
    '--log-format=[Format of messages on stderr  text, or a JSON object for each message]:value:(text json)' \
    '--color=[Colours in text for people  auto has them on a terminal unless NO_COLOR is set or TERM is dumb]:value:(auto always never)' \
    '--version[Show the version]' \
    '--help[Show this message and exit]'

#!/usr/bin/env bash
# A scripted recovery for the night shift: check, look, elect, see what it left, and keep the
# evidence of each.
#
#   runbook.sh HOST:PORT[,...] EVIDENCE_DIR [CLIENT_PROPERTIES]
#
# Exits as the election does: 0 when every partition is online with the leader chosen.
set -euo pipefail

servers=$1
evidence=$2
connect=(--bootstrap-server "$servers")
if [ $# -ge 3 ]; then
    connect+=(--command-config "$3")
fi
mkdir -p "$evidence"

# Exit 1 of what only looks is for people to read: a warning here, a partition without a candidate
# there. The rest is worth recovering all the same; anything else ends the run.
looking() {
    "$@" || [ $? -eq 1 ]
}

# What stands in the way of a recovery.
looking kafka-unclean-recovery doctor "${connect[@]}" --salvage-dir "$evidence" \
    --format json > "$evidence/doctor.json"

# What is offline, and how far each replica goes.
looking kafka-unclean-recovery "${connect[@]}" --all-offline-partitions --show-replica-info \
    --format json --plan-output-file "$evidence/plan.json" > "$evidence/before.json"

# Brokers that are about to return may make it lossless: give them ten seconds here, more in earnest.
elected=0
kafka-unclean-recovery "${connect[@]}" --all-offline-partitions --automated-recovery --yes \
    --wait-for-brokers "${WAIT_FOR_BROKERS:-all}" --recovery-duration-ms "${DURATION_MS:-10000}" \
    --journal "$evidence/journal.jsonl" --format json > "$evidence/after.json" || elected=$?
[ $elected -le 1 ] || exit $elected

# Hanging transactions, groups beyond the end, replicas out of the ISR: before writers resume.
looking kafka-unclean-recovery aftercare "${connect[@]}" --journal "$evidence/journal.jsonl" \
    --format json > "$evidence/aftercare.json"

exit $elected

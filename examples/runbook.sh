#!/usr/bin/env bash
# A scripted recovery for the night shift: look, keep the evidence, elect, keep that too.
#
#   runbook.sh HOST:PORT[,...] EVIDENCE_DIR [CLIENT_PROPERTIES]
#
# Exits as the tool does: 0 when every partition is online with the leader chosen.
set -euo pipefail

servers=$1
evidence=$2
connect=(--bootstrap-server "$servers")
if [ $# -ge 3 ]; then
    connect+=(--command-config "$3")
fi
mkdir -p "$evidence"

# What is offline, and how far each replica goes. Exit 1 means that some partition has no candidate:
# the rest is worth recovering all the same.
kafka-unclean-recovery "${connect[@]}" --all-offline-partitions --show-replica-info \
    --format json --plan-output-file "$evidence/plan.json" \
    > "$evidence/before.json" || [ $? -eq 1 ]

# Brokers that are about to return may make it lossless: give them ten seconds here, more in earnest.
kafka-unclean-recovery "${connect[@]}" --all-offline-partitions --automated-recovery --yes \
    --wait-for-brokers "${WAIT_FOR_BROKERS:-all}" --recovery-duration-ms "${DURATION_MS:-10000}" \
    --journal "$evidence/journal.jsonl" --format json > "$evidence/after.json"

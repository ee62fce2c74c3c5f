#!/bin/sh
# release.sh OVERLAY: runs the migrations of a release, and rolls the apps out only if all of them succeeded. OVERLAY is a folder
# with the kustomizations `migrations` and `platform`, such as overlays/mine. If a migration fails, no pod has been replaced: the
# script prints its reason and exits with 1. Then the old pods are still running.
set -eu
[ $# -eq 1 ] || { echo 'usage: release.sh OVERLAY' >&2; exit 2; }
overlay=$1
namespace=svc-payments
job=svc-migrations
# Longer than the deadline of the Job (30 min), so that the Job itself reports its failure.
timeout_seconds=1920
poll_seconds=${POLL_SECONDS:-3}

# A Job is immutable. The namespace does not exist before the first release.
kubectl -n "$namespace" delete job "$job" --ignore-not-found
kubectl apply -k "$overlay/migrations"

started=$(date +%s)
while true; do
  conditions=$(kubectl -n "$namespace" get job "$job" -o 'jsonpath={range .status.conditions[?(@.status=="True")]}{.type}{"\n"}{end}')
  if echo "$conditions" | grep -qx Complete; then break; fi
  if echo "$conditions" | grep -qx Failed || [ $(($(date +%s) - started)) -ge $timeout_seconds ]; then
    echo '── the last lines of the migrations' >&2
    kubectl -n "$namespace" logs --selector "app.kubernetes.io/name=$job" --all-containers --prefix --tail=20 >&2 || true
    kubectl -n "$namespace" get job "$job" -o 'jsonpath={range .status.conditions[*]}{.reason}: {.message}{"\n"}{end}' >&2 || true
    echo 'The migrations failed, so the rollout was stopped. The old pods are still running.' >&2
    exit 1
  fi
  sleep "$poll_seconds"
done
echo 'The migrations are complete.'

kubectl apply -k "$overlay/platform"
kubectl -n "$namespace" rollout status deployment --selector app.kubernetes.io/part-of=svc-payments --timeout=10m

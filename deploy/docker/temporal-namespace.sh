#!/bin/sh
# Creates the namespace if it is missing. Ended workflows can be looked at for as long as it retains them.
set -eu
for _ in $(seq 60); do
  temporal operator namespace describe --namespace "$NAMESPACE" >/dev/null 2>&1 && exit 0
  temporal operator namespace create --namespace "$NAMESPACE" --retention "$RETENTION" && exit 0
  sleep 2
done
echo "the namespace $NAMESPACE could not be made" >&2
exit 1

#!/bin/sh
# Brings Temporal's tables up to date with its version; does nothing if they are.
set -eu
SQL_PASSWORD="$(cat /run/secrets/temporal_password)"
export SQL_PASSWORD
for name in temporal visibility; do
  database=temporal
  [ "$name" = temporal ] || database=temporal_visibility
  temporal-sql-tool --database "$database" setup-schema --version 0.0
  temporal-sql-tool --database "$database" update-schema --schema-dir "/etc/temporal/schema/mysql/v8/$name/versioned"
done

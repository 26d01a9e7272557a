#!/bin/bash
# Creates the databases and the users of the service and of Temporal, or sets their current passwords. The service's user gets
# no rights here: the migrations grant them table by table, so that what has been posted cannot be changed with its password.
# Temporal's user may do anything, but only in Temporal's databases.
set -euo pipefail

secret() {
  local value
  value="$(<"/run/secrets/$1")"
  [[ "$value" =~ ^[A-Za-z0-9]+$ ]] || { echo "the secret $1 must be letters and digits" >&2; exit 1; }
  printf '%s' "$value"
}
app="$(secret money_app_password)"
temporal="$(secret temporal_password)"
MYSQL_PWD="$(</run/secrets/mysql_root_password)"
export MYSQL_PWD

mysql --host="${MYSQL_HOST:-mysql}" --port="${MYSQL_PORT:-3306}" --user=root <<SQL
CREATE DATABASE IF NOT EXISTS money CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS 'money_app'@'%' IDENTIFIED BY '$app';
ALTER USER 'money_app'@'%' IDENTIFIED BY '$app';
CREATE DATABASE IF NOT EXISTS temporal CHARACTER SET utf8mb4;
CREATE DATABASE IF NOT EXISTS temporal_visibility CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS 'temporal'@'%' IDENTIFIED BY '$temporal';
ALTER USER 'temporal'@'%' IDENTIFIED BY '$temporal';
GRANT ALL PRIVILEGES ON temporal.* TO 'temporal'@'%';
GRANT ALL PRIVILEGES ON temporal_visibility.* TO 'temporal'@'%';
SQL

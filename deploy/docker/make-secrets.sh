#!/bin/sh
# Writes the secrets of docker-compose.yml into deploy/docker/secrets, one file each. Existing files stay as they are, so it can be
# run again. Keep a copy elsewhere: without encryption_keys the sealed document numbers are lost.
set -eu
folder="$(dirname "$0")/secrets"
mkdir -p "$folder"
# The folder keeps others out. The files are readable by all, because in the containers no reader owns them.
chmod 700 "$folder"

write() {
  [ -s "$folder/$1" ] || printf '%s\n' "$2" >"$folder/$1"
  chmod 444 "$folder/$1"
}
password() { openssl rand -hex 24; }
# With an id that no lost key had. (docs/operations/install.md, Keys)
key() { printf 'k%s:%s' "$(openssl rand -hex 4)" "$(openssl rand -base64 32)"; }

for name in mysql_root_password money_app_password temporal_password grafana_password; do write "$name" "$(password)"; done
for name in fingerprint_keys cursor_keys encryption_keys; do write "$name" "$(key)"; done
write mysql_url "mysql://money_app:$(cat "$folder/money_app_password")@mysql:3306/money"
write mysql_admin_url "mysql://root:$(cat "$folder/mysql_root_password")@mysql:3306/"
# Empty: no gateways. `bank-a=k1:<base64>` for each that PAYOUT_RAIL_URLS names.
write payout_rail_keys ''

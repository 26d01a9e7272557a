#!/bin/bash
# Makes the application's user without any right: the migrations grant them table by table, so that what has been posted
# cannot be changed with the application's password. (The image's own MYSQL_USER would get every right.)
set -euo pipefail
mysql --user=root --password="$MYSQL_ROOT_PASSWORD" <<SQL
CREATE USER 'money_app'@'%' IDENTIFIED BY '${MONEY_APP_PASSWORD}';
SQL

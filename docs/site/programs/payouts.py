import json
import os
import time
import urllib.error
import urllib.request
import uuid


def call(method, path, body=None, key=""):
    request = urllib.request.Request(
        os.environ["SVC_URL"] + path,
        method=method,
        headers={
            "Authorization": "Bearer " + os.environ["SVC_TOKEN"],
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        },
        data=None if body is None else json.dumps(body).encode(),
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(error.read().decode())


source = call("GET", "/accounts/lookup?alias=%24acme-treasury")
order = {
    "source_account": source["account_id"],
    "destination": {
        "type": "bank_account",
        "country": "CO",
        "bank_code": "0007",
        "account_type": "savings",
        "account_number": "4567891234099",
        "holder_name": "Luz Rojas",
        "holder_document": "79456123",
    },
    "amount": {"raw": "150000", "asset": "COPM"},
}
# The key is stored before the first request. In your program, the order's row takes the place of the file.
FILE = "payout-1042.key"
if not os.path.exists(FILE):
    with open(FILE, "w") as file:
        file.write(str(uuid.uuid4()))
        file.flush()
        os.fsync(file.fileno())
with open(FILE) as file:
    key = file.read()
payout = call("POST", "/payouts", order, key)
for second in range(600):
    if payout["status"] not in ("approved", "in_progress"):
        break
    time.sleep(1)
    payout = call("GET", "/payouts/" + payout["id"])
print(payout["id"], payout["status"])

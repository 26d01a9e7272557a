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
phone = "3001112233"
holder = call("GET", "/payout_recipients?key=" + phone)
print(holder["holder_name"])
# Compare the name with the one that you expect.
order = {
    "source_account": source["account_id"],
    "destination": {
        "type": "bre_b_key",
        "key": phone,
        "holder_check": holder["holder_check"],
    },
    "amount": {"raw": "150000", "asset": "COPM"},
}
# Store it with the order first; repeat the request with the same key.
idempotency_key = str(uuid.uuid4())
payout = call("POST", "/payouts", order, idempotency_key)
for second in range(600):
    if payout["status"] not in ("approved", "in_progress"):
        break
    time.sleep(1)
    payout = call("GET", "/payouts/" + payout["id"])
print(payout["id"], payout["status"])

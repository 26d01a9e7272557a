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


# The order is stored with its key before it is sent, because another look-up gives another holder_check.
FILE = "payout-1043.json"
if not os.path.exists(FILE):
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
    with open(FILE, "w") as file:
        json.dump({"key": str(uuid.uuid4()), "order": order}, file)
        file.flush()
        os.fsync(file.fileno())
with open(FILE) as file:
    stored = json.load(file)
payout = call("POST", "/payouts", stored["order"], stored["key"])
for second in range(600):
    if payout["status"] not in ("approved", "in_progress"):
        break
    time.sleep(1)
    payout = call("GET", "/payouts/" + payout["id"])
print(payout["id"], payout["status"])

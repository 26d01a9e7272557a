import json
import os
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
shop = call("GET", "/accounts/lookup?alias=%24bruno")
order = {
    "source_account": source["account_id"],
    "destination": {"type": "account", "account_id": shop["account_id"]},
    "amount": {"raw": "500000", "asset": "COPM"},
    "capture": "manual",
    "capture_within_s": 259200,
}
# The keys are stored before the first request. In your program, the order's row takes the place of the file.
FILE = "order-1042.json"
if not os.path.exists(FILE):
    with open(FILE, "w") as file:
        json.dump({"authorise": str(uuid.uuid4()), "capture": str(uuid.uuid4())}, file)
        file.flush()
        os.fsync(file.fileno())
with open(FILE) as file:
    keys = json.load(file)
transfer = call("POST", "/transfers", order, keys["authorise"])
print(transfer["id"], transfer["status"])

# When you deliver, with what you delivered.
delivered = {"amount": {"raw": "350000", "asset": "COPM"}}
path = "/transfers/" + transfer["id"] + "/capture"
transfer = call("POST", path, delivered, keys["capture"])
print(transfer["status"], transfer["captured"]["raw"])

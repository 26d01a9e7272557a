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
        with urllib.request.urlopen(request) as response:
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
# Store both keys with the order; repeat each request with the same key.
keys = {"authorise": str(uuid.uuid4()), "capture": str(uuid.uuid4())}
transfer = call("POST", "/transfers", order, keys["authorise"])
print(transfer["id"], transfer["status"])

# When you deliver, with what you delivered.
delivered = {"amount": {"raw": "350000", "asset": "COPM"}}
path = "/transfers/" + transfer["id"] + "/capture"
transfer = call("POST", path, delivered, keys["capture"])
print(transfer["status"], transfer["captured"]["raw"])

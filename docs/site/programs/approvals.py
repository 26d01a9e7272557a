import json
import os
import urllib.error
import urllib.request
import uuid


def call(method, path, body=None, key="", token=os.environ["SVC_TOKEN"]):
    request = urllib.request.Request(
        os.environ["SVC_URL"] + path,
        method=method,
        headers={
            "Authorization": "Bearer " + token,
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


guarded = call("GET", "/accounts/lookup?alias=%24acme-guarded")
recipient = call("GET", "/accounts/lookup?alias=%24bruno")
order = {
    "source_account": guarded["account_id"],
    "destination": {"type": "account", "account_id": recipient["account_id"]},
    "amount": {"raw": "2500000", "asset": "COPM"},
}
# The keys are stored before the first request. In your program, the order's row takes the place of the file.
FILE = "order-1043.json"
if not os.path.exists(FILE):
    with open(FILE, "w") as file:
        json.dump({"create": str(uuid.uuid4()), "approve": str(uuid.uuid4())}, file)
        file.flush()
        os.fsync(file.fileno())
with open(FILE) as file:
    keys = json.load(file)
transfer = call("POST", "/transfers", order, keys["create"])
print(transfer["id"], transfer["status"])

# The other member's program.
path = "/transfers/" + transfer["id"] + "/approve"
approved = call("POST", path, key=keys["approve"], token=os.environ["APPROVER_TOKEN"])
print(approved["id"], approved["status"])

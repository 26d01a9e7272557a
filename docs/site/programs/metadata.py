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
recipient = call("GET", "/accounts/lookup?alias=%24bruno")
order = {
    "source_account": source["account_id"],
    "destination": {"type": "account", "account_id": recipient["account_id"]},
    "amount": {"raw": "150000", "asset": "COPM"},
    "metadata": {"invoice": "A-17", "store": "bogota"},
}
# The key is stored before the first request. In your program, the order's row takes the place of the file.
FILE = "invoice-A-17.key"
if not os.path.exists(FILE):
    with open(FILE, "w") as file:
        file.write(str(uuid.uuid4()))
        file.flush()
        os.fsync(file.fileno())
with open(FILE) as file:
    key = file.read()
transfer = call("POST", "/transfers", order, key)
change = {"metadata": {"store": None, "paid": "yes"}}
call("PATCH", "/transfers/" + transfer["id"], change)
found = call("GET", "/transfers?metadata%5Binvoice%5D=A-17")
for transfer in found["items"]:
    print(transfer["id"], transfer["metadata"])

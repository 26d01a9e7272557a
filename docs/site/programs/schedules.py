import datetime
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


# The order is stored with its key before it is sent, because it says another month later on.
FILE = "rent.json"
if not os.path.exists(FILE):
    source = call("GET", "/accounts/lookup?alias=%24acme-treasury")
    landlord = call("GET", "/accounts/lookup?alias=%24bruno")
    month = datetime.date.today().replace(day=1) + datetime.timedelta(days=32)
    order = {
        "transfer": {
            "source_account": source["account_id"],
            "destination": {"type": "account", "account_id": landlord["account_id"]},
            "amount": {"raw": "900000", "asset": "COPM"},
            "description": "Rent",
        },
        "starts_at": month.strftime("%Y-%m-01T14:00:00Z"),
        "every": {"unit": "month", "count": 1},
        "max_runs": 12,
    }
    with open(FILE, "w") as file:
        json.dump({"key": str(uuid.uuid4()), "order": order}, file)
        file.flush()
        os.fsync(file.fileno())
with open(FILE) as file:
    stored = json.load(file)
rent = call("POST", "/schedules", stored["order"], stored["key"])
print(rent["id"], rent["status"], rent["next_run_at"])
for transfer in call("GET", "/transfers?schedule=" + rent["id"])["items"]:
    print(transfer["schedule"]["due_at"], transfer["status"])

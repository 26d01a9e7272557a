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
            text = response.read().decode()
    except urllib.error.HTTPError as error:
        raise SystemExit(error.read().decode())
    return json.loads(text) if text.startswith("{") else text


account = call("GET", "/accounts/lookup?alias=%24acme-treasury")
period = {
    "account_id": account["account_id"],
    "asset": "COPM",
    "from": "2026-11-01T05:00:00.000Z",
    "to": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 60)),
}
# A statement moves nothing: an interrupted run may make another, so the key is not stored.
key = str(uuid.uuid4())
statement = call("POST", "/statements", period, key)
path = "/statements/" + statement["id"]
for second in range(600):
    if statement["status"] == "ready":
        break
    time.sleep(1)
    statement = call("GET", path)
print(statement["id"], statement["status"])
print(call("GET", path + "/file?format=csv"))

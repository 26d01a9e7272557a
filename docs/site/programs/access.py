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
        with urllib.request.urlopen(request) as response:
            return json.loads(response.read() or "null")
    except urllib.error.HTTPError as error:
        raise SystemExit(error.read().decode())


def create(path, body):
    return call("POST", path, body, str(uuid.uuid4()))


account = create("/accounts", {"type": "business", "name": "Acme Cali"})
member = create("/members", {"name": "accountant of " + account["id"]})
path = "/accounts/" + account["id"] + "/roles/" + member["id"]
role = call("PUT", path, {"role": "viewer"})["role"]
order = {"member_id": member["id"], "scopes": ["read"], "name": "report of the month"}
issued = create("/tokens", order)
seen = call("GET", "/accounts", token=issued["token"])
print(account["id"], role, len(seen["items"]))
call("DELETE", "/tokens/" + issued["key_id"] + "?cascade=true")
call("DELETE", "/members/" + member["id"])

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
            return json.loads(response.read() or "null")
    except urllib.error.HTTPError as error:
        raise SystemExit(error.read().decode())


# The keys are stored before the first request. In your program, a row takes the place of the file.
FILE = "access.json"
if not os.path.exists(FILE):
    with open(FILE, "w") as file:
        json.dump({name: str(uuid.uuid4()) for name in ("account", "member", "token")}, file)
        file.flush()
        os.fsync(file.fileno())
with open(FILE) as file:
    keys = json.load(file)
account = call("POST", "/accounts", {"type": "business", "name": "Acme Cali"}, keys["account"])
member = call("POST", "/members", {"name": "accountant of " + account["id"]}, keys["member"])
path = "/accounts/" + account["id"] + "/roles/" + member["id"]
role = call("PUT", path, {"role": "viewer"})["role"]
order = {"member_id": member["id"], "scopes": ["read"], "name": "report of the month"}
issued = call("POST", "/tokens", order, keys["token"])
if issued["token"] is None:
    raise SystemExit("shown in an earlier response only: revoke it, and create another with a new key")
seen = call("GET", "/accounts", token=issued["token"])
print(account["id"], role, len(seen["items"]))
call("DELETE", "/tokens/" + issued["key_id"] + "?cascade=true")
call("DELETE", "/members/" + member["id"])
os.remove(FILE)

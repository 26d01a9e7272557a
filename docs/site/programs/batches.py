import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request
import uuid

KEYS = "payroll.keys.json"


def stored_keys():
    """Returns the keys of this payroll, which a program that was interrupted finds again."""
    if not os.path.exists(KEYS):
        with open(KEYS + ".new", "w") as file:
            json.dump({"upload": str(uuid.uuid4()), "execute": str(uuid.uuid4())}, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(KEYS + ".new", KEYS)
    with open(KEYS) as file:
        return json.load(file)


def end(batch):
    os.rename(KEYS, batch["id"] + ".keys.json")  # The next payroll has its own keys.


def call(method, path, body=None, key="", content_type="application/json"):
    request = urllib.request.Request(
        os.environ["SVC_URL"] + path,
        method=method,
        headers={
            "Authorization": "Bearer " + os.environ["SVC_TOKEN"],
            "Content-Type": content_type,
            "Idempotency-Key": key,
        },
        data=body,
    )
    pause = 1
    while True:
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                text = response.read().decode()
                return json.loads(text) if text.startswith("{") else text
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                raise SystemExit(error.read().decode())
            pause = max(pause, int(error.headers.get("Retry-After", 0)))
        except (OSError, http.client.HTTPException) as error:
            print("no response:", error, file=sys.stderr)
        # The result is unknown: repeat the same request with the same key.
        time.sleep(pause * random.uniform(1, 2))
        pause = min(2 * pause, 60)


keys = stored_keys()
source = call("GET", "/accounts/lookup?alias=%24acme-treasury")
boundary = uuid.uuid4().hex
part = f"--{boundary}\r\nContent-Disposition: form-data; name="
with open("payroll.csv", "rb") as file:
    form = b"".join(
        [
            f'{part}"source_account"\r\n\r\n{source["account_id"]}\r\n'.encode(),
            f'{part}"file"; filename="payroll.csv"\r\n\r\n'.encode(),
            file.read(),
            f"\r\n--{boundary}--\r\n".encode(),
        ]
    )
content_type = "multipart/form-data; boundary=" + boundary
batch = call("POST", "/bonus_batches", form, keys["upload"], content_type)
path = "/bonus_batches/" + batch["id"]
while batch["status"] == "validating":
    time.sleep(1)
    batch = call("GET", path)
if batch["status"] == "rejected":
    end(batch)
    raise SystemExit(call("GET", path + "/files/errors"))

print(batch["total_debit_formatted"])  # Review the cost before you execute.
batch = call("POST", path + "/execute", key=keys["execute"])
while batch["status"] == "executing":
    time.sleep(1)
    batch = call("GET", path)
print(batch["id"], batch["status"])
print(call("GET", path + "/files/result"))
end(batch)

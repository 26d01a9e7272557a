import hashlib
import http.client
import json
import os
import random
import sys
import time
import urllib.error
import urllib.request
import uuid

with open("payroll.csv", "rb") as file:
    content = file.read()
# The keys belong to these bytes, so that every run of the program pays them once. Never delete their file.
KEYS = hashlib.sha256(content).hexdigest() + ".keys.json"
if not os.path.exists(KEYS):
    with open(KEYS, "x") as file:
        json.dump({"upload": str(uuid.uuid4()), "execute": str(uuid.uuid4())}, file)
        file.flush()
        os.fsync(file.fileno())
with open(KEYS) as file:
    keys = json.load(file)


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


source = call("GET", "/accounts/lookup?alias=%24acme-treasury")
boundary = uuid.uuid4().hex
part = f"--{boundary}\r\nContent-Disposition: form-data; name="
form = b"".join(
    [
        f'{part}"source_account"\r\n\r\n{source["account_id"]}\r\n'.encode(),
        f'{part}"file"; filename="payroll.csv"\r\n\r\n'.encode(),
        content,
        f"\r\n--{boundary}--\r\n".encode(),
    ]
)
content_type = "multipart/form-data; boundary=" + boundary
batch = call("POST", "/bonus_batches", form, keys["upload"], content_type)
path = "/bonus_batches/" + batch["id"]


def after(status):
    """Returns the batch when it has left this status."""
    end = time.monotonic() + 3600
    while time.monotonic() < end:
        batch = call("GET", path)
        if batch["status"] != status:
            return batch
        time.sleep(1)
    raise SystemExit(f"still {status}: run the program again later")


batch = after("validating")
if batch["status"] == "ready":
    same_file = batch["duplicates"]["same_file_batch_id"]
    if same_file is not None:
        raise SystemExit(f"batch {same_file} has the same file")
    if batch["earlier_payments"]["count"] > 0:
        raise SystemExit(f"rows were paid before: {batch['earlier_payments']}")
    if not batch["funding"]["sufficient"]:
        raise SystemExit("the account lacks " + batch["funding"]["shortfall"])
    if not batch["can_send"]:
        raise SystemExit("the account may not send")
    again = f"{batch['duplicates']['count']} to a person who is already in the file"
    question = f"Pay {batch['rows']} rows, {again}, for {batch['total_debit_formatted']}? (yes) "
    if input(question) != "yes":
        raise SystemExit("not confirmed: nothing was paid")
    call("POST", path + "/execute", key=keys["execute"])
    batch = after("ready")
if batch["status"] == "executing":
    batch = after("executing")
if batch["status"] == "rejected":
    raise SystemExit(batch["rejection"] or call("GET", path + "/files/errors"))
print(batch["id"], batch["status"])
print(call("GET", path + "/files/result"))

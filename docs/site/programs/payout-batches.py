import hashlib
import json
import os
import time
import urllib.error
import urllib.request
import uuid

with open("suppliers.csv", "rb") as file:
    content = file.read()
# The key belongs to these bytes: every run of the program uploads the same batch. Never delete its file.
KEY = hashlib.sha256(content).hexdigest() + ".key"
if not os.path.exists(KEY):
    with open(KEY, "x") as file:
        file.write(str(uuid.uuid4()))
        file.flush()
        os.fsync(file.fileno())
with open(KEY) as file:
    key = file.read()


def call(method, path, body=None, key="", kind="application/json"):
    request = urllib.request.Request(
        os.environ["SVC_URL"] + path,
        method=method,
        headers={
            "Authorization": "Bearer " + os.environ["SVC_TOKEN"],
            "Content-Type": kind,
            "Idempotency-Key": key,
        },
        data=body,
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            text = response.read().decode()
            return json.loads(text) if text.startswith("{") else text
    except urllib.error.HTTPError as error:
        raise SystemExit(error.read().decode())


source = call("GET", "/accounts/lookup?alias=%24acme-treasury")
boundary = uuid.uuid4().hex
part = f"--{boundary}\r\nContent-Disposition: form-data; name="
form = b"".join(
    [
        f'{part}"source_account"\r\n\r\n{source["account_id"]}\r\n'.encode(),
        f'{part}"file"; filename="suppliers.csv"\r\n\r\n'.encode(),
        content,
        f"\r\n--{boundary}--\r\n".encode(),
    ]
)
kind = "multipart/form-data; boundary=" + boundary
batch = call("POST", "/payout_batches", form, key, kind)
path = "/payout_batches/" + batch["id"]
for second in range(3600):
    if batch["status"] != "validating":
        break
    time.sleep(1)
    batch = call("GET", path)
if batch["status"] == "rejected":
    raise SystemExit(batch["rejection"] or call("GET", path + "/files/errors"))
print(batch["id"], batch["status"], batch["total_debit_formatted"])

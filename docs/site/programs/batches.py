import json
import os
import time
import urllib.error
import urllib.request
import uuid


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
    try:
        with urllib.request.urlopen(request) as response:
            text = response.read().decode()
    except urllib.error.HTTPError as error:
        raise SystemExit(error.read().decode())
    return json.loads(text) if text.startswith("{") else text


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
batch = call("POST", "/bonus_batches", form, str(uuid.uuid4()), content_type)
path = "/bonus_batches/" + batch["id"]
while batch["status"] == "validating":
    time.sleep(1)
    batch = call("GET", path)
if batch["status"] == "rejected":
    raise SystemExit(call("GET", path + "/files/errors"))

print(batch["total_debit_formatted"])  # Review the cost before you execute.
batch = call("POST", path + "/execute", key=str(uuid.uuid4()))
while batch["status"] == "executing":
    time.sleep(1)
    batch = call("GET", path)
print(batch["id"], batch["status"])
print(call("GET", path + "/files/result"))

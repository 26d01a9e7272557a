import json
import os
import time
import urllib.error
import urllib.request
import uuid

FILE = """country,bank_code,account_type,account_number,holder_name,holder_document,amount,asset,reference
CO,0007,savings,4567891234099,Luz Rojas,79456123,150000,COPM,INV-2041
CO,0007,checking,0012345678099,Papelera Andina,900555001-1,175000,COPM,INV-2042
"""


def call(method, path, body=None, key="", kind="application/json", token="SVC_TOKEN"):
    request = urllib.request.Request(
        os.environ["SVC_URL"] + path,
        method=method,
        headers={
            "Authorization": "Bearer " + os.environ[token],
            "Content-Type": kind,
            "Idempotency-Key": key,
        },
        data=body,
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(error.read().decode())


source = call("GET", "/accounts/lookup?alias=%24acme-treasury")
# Store both keys with the file first; repeat each request with the same key.
keys = {"upload": str(uuid.uuid4()), "execute": str(uuid.uuid4())}
boundary = uuid.uuid4().hex
part = f"--{boundary}\r\nContent-Disposition: form-data; name="
form = (
    f'{part}"source_account"\r\n\r\n{source["account_id"]}\r\n'
    f'{part}"file"; filename="suppliers.csv"\r\n\r\n{FILE}\r\n--{boundary}--\r\n'
).encode()
kind = "multipart/form-data; boundary=" + boundary
batch = call("POST", "/payout_batches", form, keys["upload"], kind)
path = "/payout_batches/" + batch["id"]
while batch["status"] == "validating":
    time.sleep(1)
    batch = call("GET", path)
if batch["status"] == "rejected":
    raise SystemExit("rejected: download the errors file")
print(batch["total_debit_formatted"])

# The other member's program, after the review.
batch = call("POST", path + "/execute", key=keys["execute"], token="APPROVER_TOKEN")

# The batch ends when every row is a payout. The payouts end when their banks answer.
while batch["status"] == "executing" or (
    batch["payouts"]["approved"] + batch["payouts"]["in_progress"] > 0
):
    time.sleep(1)
    batch = call("GET", path)
print(batch["id"], batch["status"], batch["payouts"]["completed"])

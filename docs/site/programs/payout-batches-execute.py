import json
import os
import time
import urllib.error
import urllib.request


def call(method, path, key=""):
    request = urllib.request.Request(
        os.environ["SVC_URL"] + path,
        method=method,
        headers={
            "Authorization": "Bearer " + os.environ["APPROVER_TOKEN"],
            "Idempotency-Key": key,
        },
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(error.read().decode())


path = "/payout_batches/" + os.environ["BATCH"]
batch = call("GET", path)
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
    again = f"{batch['duplicates']['count']} to a bank account that is already in the file"
    question = f"Pay {batch['rows']} rows, {again}, for {batch['total_debit_formatted']}? (yes) "
    if input(question) != "yes":
        raise SystemExit("not confirmed: nothing was paid")
    # A batch is executed once, so its own id serves as the key of every run.
    batch = call("POST", path + "/execute", key=batch["id"])


def is_under_way():
    """Whether rows become payouts, or banks have not answered."""
    payouts = batch["payouts"] or {"approved": 0, "in_progress": 0}
    return batch["status"] == "executing" or payouts["approved"] + payouts["in_progress"] > 0


for second in range(3600):
    if not is_under_way():
        break
    time.sleep(1)
    batch = call("GET", path)
print(batch["id"], batch["status"], batch["payouts"])

import json
import os
import urllib.parse
import urllib.request

query = {"created_at[gte]": "2026-11-01T05:00:00Z", "asset": "COPM", "amount[gte]": "100000"}
while True:
    request = urllib.request.Request(
        os.environ["SVC_URL"] + "/transfers?" + urllib.parse.urlencode(query),
        headers={"Authorization": "Bearer " + os.environ["SVC_TOKEN"]},
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        page = json.load(response)
    for transfer in page["items"]:
        print(transfer["id"], transfer["amount"]["raw"])
    if page["next_cursor"] is None:
        break
    query["cursor"] = page["next_cursor"]

import json
import os
import sqlite3
import urllib.error
import urllib.parse
import urllib.request

store = sqlite3.connect("handled.db")
store.executescript(
    """
    CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, sequence INTEGER);
    CREATE TABLE IF NOT EXISTS cursors (log TEXT PRIMARY KEY, cursor TEXT);
    """
)


def get(path, **query):
    request = urllib.request.Request(
        os.environ["SVC_URL"] + path + "?" + urllib.parse.urlencode(query),
        headers={"Authorization": "Bearer " + os.environ["SVC_TOKEN"]},
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(error.read().decode())


def handle_page():
    """Handles the events after the stored cursor, and returns their number."""
    query = {"order": "asc", "limit": 100}
    cursor = store.execute("SELECT cursor FROM cursors").fetchone()
    if cursor is not None:
        query["cursor"] = cursor[0]
    page = get("/events", **query)
    with store:  # One transaction: if the program stops in between, nothing is stored.
        for gap in page["gaps"]:  # A restore has undone the events in a gap.
            between = [gap["after"], gap["before"]]
            undone = "FROM events WHERE sequence > ? AND sequence < ?"
            for id, sequence in store.execute("SELECT id, sequence " + undone, between).fetchall():
                print("undo", sequence, id)
            store.execute("DELETE " + undone, between)
        for event in page["items"]:
            row = [event["id"], event["sequence"]]
            added = store.execute("INSERT OR IGNORE INTO events VALUES (?, ?)", row)
            if added.rowcount > 0:  # Not handled already, for example from a webhook.
                print(event["sequence"], event["type"], event["id"])
        store.execute("INSERT OR REPLACE INTO cursors VALUES ('log', ?)", [page["next_cursor"]])
    return len(page["items"])


while handle_page() > 0:
    pass

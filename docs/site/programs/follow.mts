import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { MoneyClient } from 'money-movement-client';

const FILE = 'handled.json';
interface Handled {
  cursor?: string;
  /** Sequences of the events by their ids. */
  events: Record<string, number>;
}
let stored: Handled = { events: {} };
if (existsSync(FILE)) stored = JSON.parse(readFileSync(FILE, 'utf8'));

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });

/** Handles the events after the stored cursor, and returns their number. */
async function handlePage(): Promise<number> {
  const page = await client.listEvents({ order: 'asc', limit: 100 }).page(stored.cursor);
  const events = { ...stored.events };
  // A restore has undone the events in a gap.
  for (const { after, before } of page.gaps)
    for (const [id, sequence] of Object.entries(events))
      if (sequence > after && sequence < before) {
        console.log('undo', sequence, id);
        delete events[id];
      }
  for (const { id, type, sequence } of page.items) {
    if (id in events) continue; // Handled already, for example from a webhook.
    console.log(sequence, type, id);
    events[id] = sequence;
  }
  stored = { cursor: page.next_cursor ?? stored.cursor, events };
  // Effects and cursor are stored together: if the program stops in between, neither is.
  writeFileSync(`${FILE}.new`, JSON.stringify(stored), { flush: true });
  renameSync(`${FILE}.new`, FILE);
  return page.items.length;
}

while ((await handlePage()) > 0);

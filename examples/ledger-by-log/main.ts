/**
 * A receiver that keeps a ledger of its own in step: `PORT=3000 node main.ts books.json`. A webhook
 * only wakes it; it reads what happened from the log, from a position stored in the same file and
 * the same write as the books. So a lost, late, duplicate or forged delivery changes nothing, and
 * neither does a crash. Without webhooks it looks every second.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type Event, MoneyClient, verifyWebhook, WebhookError } from 'money-movement-client';

interface Books {
  /** The position after the last event in the books. */
  position?: string;
  /** Centavos that have left each of our accounts, as text. */
  readonly spent: Record<string, string>;
  readonly entries: {
    readonly event: string;
    readonly account: string;
    readonly centavos: string;
  }[];
}

const [file = 'books.json'] = process.argv.slice(2);
const {
  SVC_URL: baseUrl = '',
  SVC_TOKEN: token = '',
  WEBHOOK_SECRET: secret = '',
  PORT: port = '3000',
} = process.env;
const client = new MoneyClient({ baseUrl, token });
const books: Books = existsSync(file)
  ? (JSON.parse(readFileSync(file, 'utf8')) as Books)
  : { spent: {}, entries: [] };

/**
 * Entries that an event causes in our accounts: money leaves when a transfer completes, and comes
 * back when a payout is returned.
 */
function centavosOf(event: Event): bigint {
  switch (event.type) {
    case 'transfer.completed':
    case 'payout.completed': {
      const { amount, fee } = event.data.object;
      return amount.asset === 'COPM' ? amount.raw + fee.raw : 0n;
    }
    case 'payout.returned':
      // The amount, but not the fee.
      return event.data.object.amount.asset === 'COPM' ? -event.data.object.amount.raw : 0n;
    default:
      return 0n;
  }
}

function apply(event: Event, position: string): void {
  const centavos = centavosOf(event);
  if (centavos !== 0n && 'source_account' in event.data.object) {
    const account = event.data.object.source_account;
    books.spent[account] = (BigInt(books.spent[account] ?? '0') + centavos).toString();
    books.entries.push({ event: event.id, account, centavos: centavos.toString() });
  }
  books.position = position;
  // One write for the entry and the position.
  writeFileSync(`${file}.new`, JSON.stringify(books));
  renameSync(`${file}.new`, file);
}

/** Ends the follower's pause. */
let wake = new AbortController();

async function isFromTheService(request: IncomingMessage): Promise<boolean> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  try {
    await verifyWebhook({ body: Buffer.concat(pieces), headers: request.headers }, secret);
    return true;
  } catch (error) {
    if (error instanceof WebhookError) return false;
    throw error;
  }
}

createServer((request, response) => {
  isFromTheService(request).then(
    (isGenuine) => {
      if (isGenuine) wake.abort();
      response.writeHead(isGenuine ? 204 : 401).end();
    },
    () => response.destroy(),
  );
}).listen(Number(port), '127.0.0.1', () =>
  console.log(`in step from ${books.position ?? 'the beginning'}`),
);

for (;;) {
  wake = new AbortController();
  const signal = AbortSignal.any([wake.signal, AbortSignal.timeout(1_000)]);
  for await (const { event, position } of client.followEvents({
    ...(books.position && { from: books.position }),
    signal,
  }))
    apply(event, position);
}

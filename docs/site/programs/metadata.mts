import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const recipient = await client.lookUpAccount({ alias: '$bruno' });
const order = {
  source_account: source.account_id,
  destination: { type: 'account', account_id: recipient.account_id },
  amount: { raw: 150_000n, asset: 'COPM' },
  metadata: { invoice: 'A-17', store: 'bogota' },
} as const;
// The key is stored before the first request. In your program, the order's row takes the place of the file.
const FILE = 'invoice-A-17.key';
if (!existsSync(FILE)) writeFileSync(FILE, randomUUID(), { flush: true });
const key = readFileSync(FILE, 'utf8');
const { id } = await client.createTransfer(order, { idempotencyKey: key });
await client.updateTransfer(id, { metadata: { store: null, paid: 'yes' } });
const found = client.listTransfers({ metadata: { invoice: 'A-17' } });
for await (const { id: own, metadata } of found) console.log(own, metadata);

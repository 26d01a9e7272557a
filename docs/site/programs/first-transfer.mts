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
  description: 'Lunch',
} as const;
// The key is stored before the first request. In your program, the order's row takes the place of the file.
const FILE = 'transfer-1042.key';
if (!existsSync(FILE)) writeFileSync(FILE, randomUUID(), { flush: true });
const key = readFileSync(FILE, 'utf8');
const { id } = await client.createTransfer(order, { idempotencyKey: key });
const transfer = await client.getTransfer(id);
console.log(transfer.id, transfer.status);

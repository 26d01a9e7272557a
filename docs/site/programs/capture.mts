import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const shop = await client.lookUpAccount({ alias: '$bruno' });
// The keys are stored before the first request. In your program, the order's row takes the place of the file.
const FILE = 'order-1042.json';
const newKeys = { authorise: randomUUID(), capture: randomUUID() };
if (!existsSync(FILE)) writeFileSync(FILE, JSON.stringify(newKeys), { flush: true });
const keys: typeof newKeys = JSON.parse(readFileSync(FILE, 'utf8'));
const authorisation = {
  source_account: source.account_id,
  destination: { type: 'account', account_id: shop.account_id },
  amount: { raw: 500_000n, asset: 'COPM' },
  capture: 'manual',
  capture_within_s: 259_200,
} as const;
const order = await client.createTransfer(authorisation, { idempotencyKey: keys.authorise });
console.log(order.id, order.status);

// When you deliver, with what you delivered.
const delivered = { amount: { raw: 350_000n, asset: 'COPM' } } as const;
const { status, captured } = await client.captureTransfer(order.id, delivered, {
  idempotencyKey: keys.capture,
});
console.log(status, captured?.raw);

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const phone = '3001112233';
// The check is stored with the key before the first request, because another look-up gives another check.
const FILE = 'payout-1043.json';
if (!existsSync(FILE)) {
  const { holder_name, holder_check } = await client.lookUpPayoutRecipient({ key: phone });
  console.log(holder_name);
  // Compare the name with the one that you expect.
  writeFileSync(FILE, JSON.stringify({ key: randomUUID(), holder_check }), { flush: true });
}
const { key: idempotencyKey, holder_check } = JSON.parse(readFileSync(FILE, 'utf8'));
const order = {
  source_account: source.account_id,
  destination: { type: 'bre_b_key', key: phone, holder_check },
  amount: { raw: 150_000n, asset: 'COPM' },
} as const;
let payout = await client.createPayout(order, { idempotencyKey });
const isUnderWay = (): boolean => ['approved', 'in_progress'].includes(payout.status);
for (let seconds = 0; isUnderWay() && seconds < 600; seconds += 1) {
  await sleep(1000);
  payout = await client.getPayout(payout.id);
}
console.log(payout.id, payout.status);

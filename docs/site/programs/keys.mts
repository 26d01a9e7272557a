import { setTimeout as sleep } from 'node:timers/promises';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const phone = '3001112233';
const holder = await client.lookUpPayoutRecipient({ key: phone });
console.log(holder.holder_name);
// Compare the name with the one that you expect.
const order = {
  source_account: source.account_id,
  destination: { type: 'bre_b_key', key: phone, holder_check: holder.holder_check },
  amount: { raw: 150_000n, asset: 'COPM' },
} as const;
// Store it with the order first; repeat the request with the same key.
const idempotencyKey = crypto.randomUUID();
let payout = await client.createPayout(order, { idempotencyKey });
const isUnderWay = (): boolean => ['approved', 'in_progress'].includes(payout.status);
for (let seconds = 0; isUnderWay() && seconds < 600; seconds += 1) {
  await sleep(1000);
  payout = await client.getPayout(payout.id);
}
console.log(payout.id, payout.status);

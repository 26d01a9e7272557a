import { setTimeout as sleep } from 'node:timers/promises';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const order = {
  source_account: source.account_id,
  destination: {
    type: 'bank_account',
    country: 'CO',
    bank_code: '0007',
    account_type: 'savings',
    account_number: '4567891234099',
    holder_name: 'Luz Rojas',
    holder_document: '79456123',
  },
  amount: { raw: 150_000n, asset: 'COPM' },
} as const;
// Store it with the order first; repeat the request with the same key.
const key = crypto.randomUUID();
let payout = await client.createPayout(order, { idempotencyKey: key });
while (payout.status === 'approved' || payout.status === 'in_progress') {
  await sleep(1000);
  payout = await client.getPayout(payout.id);
}
console.log(payout.id, payout.status);

import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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
// The key is stored before the first request. In your program, the order's row takes the place of the file.
const FILE = 'payout-1042.key';
if (!existsSync(FILE)) writeFileSync(FILE, randomUUID(), { flush: true });
const key = readFileSync(FILE, 'utf8');
let payout = await client.createPayout(order, { idempotencyKey: key });
const isUnderWay = (): boolean => ['approved', 'in_progress'].includes(payout.status);
for (let seconds = 0; isUnderWay() && seconds < 600; seconds += 1) {
  await sleep(1000);
  payout = await client.getPayout(payout.id);
}
console.log(payout.id, payout.status);

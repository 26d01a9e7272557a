import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const landlord = await client.lookUpAccount({ alias: '$bruno' });
const today = new Date();
const firstOfNextMonth = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1, 14));
// The first run is stored with the key before the first request, because it is another one next month.
const FILE = 'rent.json';
const created = { key: randomUUID(), starts_at: firstOfNextMonth.toISOString() };
if (!existsSync(FILE)) writeFileSync(FILE, JSON.stringify(created), { flush: true });
const { key, starts_at }: typeof created = JSON.parse(readFileSync(FILE, 'utf8'));
const order = {
  transfer: {
    source_account: source.account_id,
    destination: { type: 'account', account_id: landlord.account_id },
    amount: { raw: 900_000n, asset: 'COPM' },
    description: 'Rent',
  },
  starts_at,
  every: { unit: 'month', count: 1 },
  max_runs: 12,
} as const;
const rent = await client.createSchedule(order, { idempotencyKey: key });
console.log(rent.id, rent.status, rent.next_run_at);
for await (const { schedule, status } of client.listTransfers({ schedule: rent.id }))
  console.log(schedule?.due_at, status);

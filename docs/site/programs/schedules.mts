import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const landlord = await client.lookUpAccount({ alias: '$bruno' });
const today = new Date();
const firstOfNextMonth = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 1, 14));
const order = {
  transfer: {
    source_account: source.account_id,
    destination: { type: 'account', account_id: landlord.account_id },
    amount: { raw: 900_000n, asset: 'COPM' },
    description: 'Rent',
  },
  starts_at: firstOfNextMonth.toISOString(),
  every: { unit: 'month', count: 1 },
  max_runs: 12,
} as const;
// Store it with the order first; repeat the request with the same key.
const key = crypto.randomUUID();
const rent = await client.createSchedule(order, { idempotencyKey: key });
console.log(rent.id, rent.status, rent.next_run_at);
for await (const { schedule, status } of client.listTransfers({ schedule: rent.id }))
  console.log(schedule?.due_at, status);

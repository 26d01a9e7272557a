import { setTimeout as sleep } from 'node:timers/promises';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const account = await client.lookUpAccount({ alias: '$acme-treasury' });
const period = {
  account_id: account.account_id,
  asset: 'COPM',
  from: '2026-11-01T05:00:00.000Z',
  to: new Date(Date.now() - 60_000).toISOString(),
} as const;
// A statement moves nothing: an interrupted run may make another, so the key is not stored.
const key = crypto.randomUUID();
let statement = await client.createStatement(period, { idempotencyKey: key });
for (let seconds = 0; statement.status !== 'ready' && seconds < 600; seconds += 1) {
  await sleep(1000);
  statement = await client.getStatement(statement.id);
}
console.log(statement.id, statement.status);
const file = await client.downloadStatement(statement.id, { format: 'csv' });
console.log(await file.text());

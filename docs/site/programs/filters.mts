import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const large = client.listTransfers({
  'created_at[gte]': '2026-11-01T05:00:00Z',
  asset: 'COPM',
  'amount[gte]': 100_000n,
});
for await (const { id, amount } of large) console.log(id, amount.raw);

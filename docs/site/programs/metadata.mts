import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const recipient = await client.lookUpAccount({ alias: '$bruno' });
const order = {
  source_account: source.account_id,
  destination: { type: 'account', account_id: recipient.account_id },
  amount: { raw: 150_000n, asset: 'COPM' },
  metadata: { invoice: 'A-17', store: 'bogota' },
} as const;
// Store it with the order first; repeat the request with the same key.
const key = crypto.randomUUID();
const { id } = await client.createTransfer(order, { idempotencyKey: key });
await client.updateTransfer(id, { metadata: { store: null, paid: 'yes' } });
const found = client.listTransfers({ metadata: { invoice: 'A-17' } });
for await (const { id: own, metadata } of found) console.log(own, metadata);

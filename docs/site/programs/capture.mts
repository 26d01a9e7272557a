import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const shop = await client.lookUpAccount({ alias: '$bruno' });
const order = await client.createTransfer({
  source_account: source.account_id,
  destination: { type: 'account', account_id: shop.account_id },
  amount: { raw: 500_000n, asset: 'COPM' },
  capture: 'manual',
  capture_within_s: 259_200,
});
console.log(order.id, order.status);

// When you deliver, with what you delivered.
const delivered = { amount: { raw: 350_000n, asset: 'COPM' } } as const;
const { status, captured } = await client.captureTransfer(order.id, delivered);
console.log(status, captured?.raw);

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MoneyClient } from 'money-movement-client';

const FILE = `country,bank_code,account_type,account_number,holder_name,holder_document,amount,asset,reference
CO,0007,savings,4567891234099,Luz Rojas,79456123,150000,COPM,INV-2041
CO,0007,checking,0012345678099,Papelera Andina,900555001-1,175000,COPM,INV-2042
`;

const { SVC_URL: baseUrl = '', SVC_TOKEN = '', APPROVER_TOKEN = '' } = process.env;
const client = new MoneyClient({ baseUrl, token: SVC_TOKEN });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
// Store both keys with the file first; repeat each request with the same key.
const keys = { upload: randomUUID(), execute: randomUUID() };
let batch = await client.uploadPayoutBatch(
  { source_account: source.account_id, file: new Blob([FILE]) },
  { idempotencyKey: keys.upload },
);
while (batch.status === 'validating') {
  await sleep(1000);
  batch = await client.getPayoutBatch(batch.id);
}
if (batch.status === 'rejected')
  throw new Error(await (await client.downloadPayoutBatchErrors(batch.id)).text());
console.log(batch.total_debit_formatted);

// The other member's program, after the review.
const approver = new MoneyClient({ baseUrl, token: APPROVER_TOKEN });
batch = await approver.executePayoutBatch(batch.id, { idempotencyKey: keys.execute });

// The batch ends when every row is a payout. The payouts end when their banks answer.
while (
  batch.status === 'executing' ||
  (batch.payouts?.approved ?? 0) + (batch.payouts?.in_progress ?? 0) > 0
) {
  await sleep(1000);
  batch = await client.getPayoutBatch(batch.id);
}
console.log(batch.id, batch.status, batch.payouts?.completed);

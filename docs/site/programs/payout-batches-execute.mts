import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', APPROVER_TOKEN: token = '', BATCH: id = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
let batch = await client.getPayoutBatch(id);
if (batch.status === 'ready') {
  const { rows, total_debit_formatted, duplicates, earlier_payments, funding, can_send } = batch;
  if (duplicates === null || duplicates.same_file_batch_id !== null)
    throw new Error(`batch ${duplicates?.same_file_batch_id} has the same file`);
  if (earlier_payments?.count !== 0)
    throw new Error(`rows were paid before: ${JSON.stringify(earlier_payments)}`);
  if (!funding?.sufficient) throw new Error(`the account lacks ${funding?.shortfall}`);
  if (!can_send) throw new Error('the account may not send');
  const person = createInterface({ input: process.stdin, output: process.stdout });
  const again = `${duplicates.count} to a bank account that is already in the file`;
  const question = `Pay ${rows} rows, ${again}, for ${total_debit_formatted}? (yes) `;
  const answer = await person.question(question);
  person.close();
  if (answer !== 'yes') throw new Error('not confirmed: nothing was paid');
  // A batch is executed once, so its own id serves as the key of every run.
  batch = await client.executePayoutBatch(id, { idempotencyKey: id });
}

/** Whether rows become payouts, or banks have not answered. */
const isUnderWay = (): boolean =>
  batch.status === 'executing' ||
  (batch.payouts?.approved ?? 0) + (batch.payouts?.in_progress ?? 0) > 0;
for (let seconds = 0; isUnderWay() && seconds < 3600; seconds += 1) {
  await sleep(1000);
  batch = await client.getPayoutBatch(id);
}
console.log(id, batch.status, batch.payouts);

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BonusBatch, MoneyClient } from 'money-movement-client';

const content = readFileSync('payroll.csv');
// The keys belong to these bytes, so that every run of the program pays them once. Never delete their file.
const KEYS = `${createHash('sha256').update(content).digest('hex')}.keys.json`;
const newKeys = { upload: randomUUID(), execute: randomUUID() };
if (!existsSync(KEYS)) writeFileSync(KEYS, JSON.stringify(newKeys), { flag: 'wx', flush: true });
const keys: typeof newKeys = JSON.parse(readFileSync(KEYS, 'utf8'));

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
// A request whose result is unknown is repeated with the same key for a day.
const client = new MoneyClient({ baseUrl, token, patienceMs: 86_400_000 });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const form = { source_account: source.account_id, file: new Blob([content]) };
const { id } = await client.uploadBonusBatch(form, { idempotencyKey: keys.upload });

/** Returns the batch when it has left this status. */
async function after(status: BonusBatch['status']): Promise<BonusBatch> {
  for (const end = Date.now() + 3_600_000; Date.now() < end; await sleep(1000)) {
    const batch = await client.getBonusBatch(id);
    if (batch.status !== status) return batch;
  }
  throw new Error(`still ${status}: run the program again later`);
}

let batch = await after('validating');
if (batch.status === 'ready') {
  const { rows, total_debit_formatted, duplicates, earlier_payments, funding, can_send } = batch;
  if (duplicates === null || duplicates.same_file_batch_id !== null)
    throw new Error(`batch ${duplicates?.same_file_batch_id} has the same file`);
  if (earlier_payments?.count !== 0)
    throw new Error(`rows were paid before: ${JSON.stringify(earlier_payments)}`);
  if (!funding?.sufficient) throw new Error(`the account lacks ${funding?.shortfall}`);
  if (!can_send) throw new Error('the account may not send');
  const person = createInterface({ input: process.stdin, output: process.stdout });
  const again = `${duplicates.count} to a person who is already in the file`;
  const question = `Pay ${rows} rows, ${again}, for ${total_debit_formatted}? (yes) `;
  const answer = await person.question(question);
  person.close();
  if (answer !== 'yes') throw new Error('not confirmed: nothing was paid');
  await client.executeBonusBatch(id, { idempotencyKey: keys.execute });
  batch = await after('ready');
}
if (batch.status === 'executing') batch = await after('executing');
if (batch.status === 'rejected') {
  const { rejection } = batch;
  throw new Error(rejection?.code ?? (await (await client.downloadBonusBatchErrors(id)).text()));
}
console.log(id, batch.status);
console.log(await (await client.downloadBonusBatchResult(id)).text());

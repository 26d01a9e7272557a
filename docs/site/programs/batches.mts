import { randomUUID } from 'node:crypto';
import { open, readFile, rename } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { MoneyClient } from 'money-movement-client';

const KEYS = 'payroll.keys.json';

/** Returns the keys of this payroll, which a program that was interrupted finds again. */
async function storedKeys(): Promise<{ upload: string; execute: string }> {
  const stored = await readFile(KEYS, 'utf8').catch(() => null);
  if (stored !== null) return JSON.parse(stored);
  const keys = { upload: randomUUID(), execute: randomUUID() };
  const file = await open(`${KEYS}.new`, 'w');
  await file.writeFile(JSON.stringify(keys));
  await file.sync();
  await file.close();
  await rename(`${KEYS}.new`, KEYS);
  return keys;
}

/** The next payroll has its own keys. */
const end = (id: string): Promise<void> => rename(KEYS, `${id}.keys.json`);

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const keys = await storedKeys();
// A request whose result is unknown is repeated with the same key for a day.
const client = new MoneyClient({ baseUrl, token, patienceMs: 86_400_000 });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const file = new Blob([await readFile('payroll.csv')]);
let batch = await client.uploadBonusBatch(
  { source_account: source.account_id, file },
  { idempotencyKey: keys.upload },
);
while (batch.status === 'validating') {
  await sleep(1000);
  batch = await client.getBonusBatch(batch.id);
}
if (batch.status === 'rejected') {
  await end(batch.id);
  const problems = await client.downloadBonusBatchErrors(batch.id);
  throw new Error(await problems.text());
}

console.log(batch.total_debit_formatted); // Review the cost before you execute.
batch = await client.executeBonusBatch(batch.id, { idempotencyKey: keys.execute });
while (batch.status === 'executing') {
  await sleep(1000);
  batch = await client.getBonusBatch(batch.id);
}
console.log(batch.id, batch.status);
const result = await client.downloadBonusBatchResult(batch.id);
console.log(await result.text());
await end(batch.id);

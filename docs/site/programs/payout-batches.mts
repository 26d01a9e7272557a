import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { MoneyClient } from 'money-movement-client';

const content = readFileSync('suppliers.csv');
// The key belongs to these bytes: every run of the program uploads the same batch. Never delete its file.
const KEY = `${createHash('sha256').update(content).digest('hex')}.key`;
if (!existsSync(KEY)) writeFileSync(KEY, randomUUID(), { flag: 'wx', flush: true });

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
let batch = await client.uploadPayoutBatch(
  { source_account: source.account_id, file: new Blob([content]) },
  { idempotencyKey: readFileSync(KEY, 'utf8') },
);
for (let seconds = 0; batch.status === 'validating' && seconds < 3600; seconds += 1) {
  await sleep(1000);
  batch = await client.getPayoutBatch(batch.id);
}
if (batch.status === 'rejected') {
  const { id, rejection } = batch;
  throw new Error(rejection?.code ?? (await (await client.downloadPayoutBatchErrors(id)).text()));
}
console.log(batch.id, batch.status, batch.total_debit_formatted);

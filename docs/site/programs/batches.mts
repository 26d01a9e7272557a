import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { MoneyClient } from 'money-movement-client';

const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });
const source = await client.lookUpAccount({ alias: '$acme-treasury' });
const file = new Blob([await readFile('payroll.csv')]);
let batch = await client.uploadBonusBatch({ source_account: source.account_id, file });
while (batch.status === 'validating') {
  await sleep(1000);
  batch = await client.getBonusBatch(batch.id);
}
if (batch.status === 'rejected') {
  const problems = await client.downloadBonusBatchErrors(batch.id);
  throw new Error(await problems.text());
}

console.log(batch.total_debit_formatted); // Review the cost before you execute.
batch = await client.executeBonusBatch(batch.id);
while (batch.status === 'executing') {
  await sleep(1000);
  batch = await client.getBonusBatch(batch.id);
}
console.log(batch.id, batch.status);
const result = await client.downloadBonusBatchResult(batch.id);
console.log(await result.text());

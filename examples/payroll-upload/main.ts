/**
 * A payroll clerk's upload: `node main.ts ACCOUNT payroll.csv [--yes]`. Shows the cost before
 * anything is paid, asks, pays, and writes what became of each row to payroll.result.csv. If the
 * file is refused, it shows every mistake.
 */
import { openAsBlob, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { type BonusBatch, MoneyClient } from 'money-movement-client';

const [account = '', file = 'payroll.csv', answer] = process.argv.slice(2);
const { SVC_URL: baseUrl = '', SVC_TOKEN: token = '' } = process.env;
const client = new MoneyClient({ baseUrl, token });

const pesos = (amount: BonusBatch['total']): string =>
  amount === null
    ? '–'
    : `${amount.raw / 100n}.${(amount.raw % 100n).toString().padStart(2, '0')} ${amount.asset}`;

/** Polls it while it is in this status. */
async function settled(id: string, during: BonusBatch['status']): Promise<BonusBatch> {
  for (;;) {
    const batch = await client.getBonusBatch(id);
    if (batch.status !== during) return batch;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function confirmed(): Promise<boolean> {
  if (answer === '--yes') return true;
  const person = createInterface({ input: process.stdin, output: process.stdout });
  const said = await person.question('Pay? (yes/no) ');
  person.close();
  return said === 'yes';
}

// One key for every attempt of this start. A second start uploads another batch: the review says
// whether the file is known.
const { id } = await client.uploadBonusBatch({
  source_account: account,
  file: await openAsBlob(file),
});
const batch = await settled(id, 'validating');
if (batch.status === 'rejected') {
  console.log(await (await client.downloadBonusBatchErrors(id)).text());
  console.log('Nobody is paid. Correct the file and upload it again.');
  process.exit(1);
}
console.log(
  `${batch.rows} people, ${pesos(batch.total)}, fees ${pesos(batch.fees)}, in all ${pesos(batch.total_debit)}`,
);
if (batch.duplicates !== null && batch.duplicates.count > 0)
  console.log(
    `${batch.duplicates.count} rows pay somebody again: rows ${batch.duplicates.rows.join(', ')}`,
  );
const before = batch.duplicates?.same_file_batch_id ?? null;
if (before !== null) {
  console.log(
    `The same file was uploaded before, as batch ${before}: see what became of that one first.`,
  );
  // The program runs unattended, and this may be a second start after a crash.
  if (answer === '--yes') process.exit(1);
}
if (batch.funding?.sufficient === false)
  console.log(`The account lacks ${batch.funding.shortfall} of it.`);

if (await confirmed()) {
  await client.executeBonusBatch(id);
  const end = await settled(id, 'executing');
  const result = file.replace(/(\.\w+)?$/, '.result.csv');
  writeFileSync(result, await (await client.downloadBonusBatchResult(id)).text());
  console.log(
    `${end.status}: ${end.progress?.paid} paid, ${end.progress?.failed} not; see ${result}`,
  );
} else {
  await client.cancelBonusBatch(id);
  console.log('Nobody is paid.');
}

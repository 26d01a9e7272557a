import type { Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import type { Batch } from '../../src/db/entities/batches.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { BatchWorld, payroll } from './support.js';
import { type Damages, damageTests } from '../auditor/damages.js';

interface Victims {
  readonly tenantId: Uuid;
  readonly payer: Account;
  /** Held, one row of three paid. */
  readonly executing: Batch;
  readonly completed: Batch;
}

const ROW = (batch: Batch, number: number): string =>
  `batch_id=${idLiteral(batch.id)} AND number=${number}`;
const BATCH = (batch: Batch, set: string): string =>
  `UPDATE batches SET ${set} WHERE id=${idLiteral(batch.id)}`;

const DAMAGES: Damages<Victims> = {
  'a hold of less than the sum of the open rows': [
    ({ executing }) =>
      `UPDATE holds SET remaining=remaining-1 WHERE resource_id=${idLiteral(executing.id)}`,
    ['held_total', 'operation_hold'],
  ],
  'a changed amount of an open row': [
    ({ executing }) => `UPDATE batch_rows SET raw=raw+1 WHERE ${ROW(executing, 3)}`,
    ['batch_sums'],
  ],
  'a deleted row': [
    ({ executing }) => `DELETE FROM batch_rows WHERE ${ROW(executing, 3)}`,
    ['batch_sums', 'batch_sums'],
  ],
  'a paid row that looks open again': [
    ({ completed }) =>
      `UPDATE batch_rows SET status='pending', payment_id=NULL WHERE ${ROW(completed, 2)}`,
    ['batch_row_bonus', 'batch_sums', 'batch_sums'],
  ],
  'a paid row that names another bonus': [
    ({ completed, executing }) =>
      `UPDATE batch_rows SET payment_id=${idLiteral(executing.id)} WHERE ${ROW(completed, 2)}`,
    ['batch_row_bonus'],
  ],
  'a bonus with another recipient than its row': [
    ({ completed, payer }) =>
      `UPDATE batch_rows SET recipient_key=${idLiteral(payer.id)} WHERE ${ROW(completed, 2)}`,
    ['batch_row_bonus'],
  ],
  'a batch that counts a row too many as paid': [
    ({ executing }) => BATCH(executing, 'rows_paid=rows_paid+1'),
    ['batch_sums', 'batch_sums'],
  ],
  'an ended batch with open rows': [
    ({ executing }) => BATCH(executing, "status='completed'"),
    ['batch_state', 'operation_event', 'operation_hold'],
  ],
  'a completed batch that is executing again': [
    ({ completed }) => BATCH(completed, "status='executing'"),
    ['batch_state', 'operation_event'],
  ],
  'a deleted bonus': [
    ({ completed }) =>
      `DELETE FROM bonuses WHERE batch_id=${idLiteral(completed.id)} AND batch_row=2`,
    ['batch_row_bonus', 'batch_sums', 'key_resource', 'month_total', 'transaction_resource'],
  ],
  'a bonus of another month': [
    ({ completed }) =>
      `UPDATE bonuses SET limit_month='2020-01' WHERE batch_id=${idLiteral(completed.id)} AND batch_row=2`,
    ['month_total', 'month_total'],
  ],
  'a batch in another asset than its bonuses': [
    ({ completed }) => BATCH(completed, "asset='DUSD'"),
    ['batch_row_bonus', 'event_body', 'event_body', 'operation_hold'],
  ],
  'a bonus whose key is missing, so that its row could be paid again': [
    ({ completed }) =>
      `DELETE FROM idempotency_keys WHERE resource_id=(SELECT id FROM bonuses WHERE batch_id=${idLiteral(completed.id)} AND batch_row=2)`,
    ['operation_key'],
  ],
  'a bonus of another amount': [
    ({ completed }) =>
      `UPDATE bonuses SET raw=raw-1 WHERE batch_id=${idLiteral(completed.id)} AND batch_row=2`,
    ['batch_row_bonus', 'month_total', 'transaction_legs'],
  ],
};

describe('the auditor, for batches and bonuses', () => {
  damageTests(DAMAGES, { name: 'batch_audit', makeVictims, ofNoTenant: [] });
});

async function makeVictims(db: TestDatabase): Promise<Victims> {
  const world = await BatchWorld.open(db);
  const payer = await world.account({ funds: { COPM: 100n * LEAST } });
  await world.account({ alias: '$ana' });
  await world.account({ alias: '$bruno' });
  const row = (recipient: string): readonly string[] => [recipient, LEAST.toString(), 'COPM'];
  const completed = await world.paid(payer, payroll([row('$ana'), row('$bruno')]));
  const executing = await world.executed(payer, payroll([row('$ana'), row('$ana'), row('$bruno')]));
  await world.execution.payNextGroup(executing.id, 1);
  return { tenantId: world.tenant.tenant.id, payer, executing, completed };
}

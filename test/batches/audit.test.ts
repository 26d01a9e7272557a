import type { Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import type { Batch, BatchKindName } from '../../src/db/entities/batches.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { suppliers } from './payout-support.js';
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
/** The bonus or payout of the first row. */
const PAYMENT = ({ completed }: Victims): string =>
  `batch_id=${idLiteral(completed.id)} AND batch_row=2`;
const BATCH = (batch: Batch, set: string): string =>
  `UPDATE batches SET ${set} WHERE id=${idLiteral(batch.id)}`;

const damagesOf = (table: 'bonuses' | 'payouts'): Damages<Victims> => ({
  'a hold of less than the sum of the open rows': [
    ({ executing }) =>
      `UPDATE holds SET remaining=remaining-1 WHERE resource_id=${idLiteral(executing.id)}`,
    ['held_total', 'operation_hold'],
  ],
  'a changed amount of an open row': [
    ({ executing }) => `UPDATE batch_rows SET raw=raw+1 WHERE ${ROW(executing, 3)}`,
    ['batch_sums'],
  ],
  'a paid row that looks open again, so that it could be paid twice': [
    ({ completed }) =>
      `UPDATE batch_rows SET status='pending', payment_id=NULL WHERE ${ROW(completed, 2)}`,
    ['batch_row_bonus', 'batch_sums', 'batch_sums'],
  ],
  'a completed batch that is executing again': [
    ({ completed }) => BATCH(completed, "status='executing'"),
    ['batch_state', 'operation_event'],
  ],
  'a payment whose key is missing, so that its row could be paid again': [
    (victims) =>
      `DELETE FROM idempotency_keys WHERE resource_id=(SELECT id FROM ${table} WHERE ${PAYMENT(victims)})`,
    ['operation_key'],
  ],
});

const BONUS_DAMAGES: Damages<Victims> = {
  ...damagesOf('bonuses'),
  'a deleted row': [
    ({ executing }) => `DELETE FROM batch_rows WHERE ${ROW(executing, 3)}`,
    ['batch_sums', 'batch_sums'],
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
  'a deleted bonus': [
    (victims) => `DELETE FROM bonuses WHERE ${PAYMENT(victims)}`,
    ['batch_row_bonus', 'batch_sums', 'key_resource', 'month_total', 'transaction_resource'],
  ],
  'a bonus of another month': [
    (victims) => `UPDATE bonuses SET limit_month='2020-01' WHERE ${PAYMENT(victims)}`,
    ['month_total', 'month_total'],
  ],
  'a batch in another asset than its bonuses': [
    ({ completed }) => BATCH(completed, "asset='DUSD'"),
    ['batch_row_bonus', 'event_body', 'event_body', 'operation_hold'],
  ],
  'a bonus of another amount': [
    (victims) => `UPDATE bonuses SET raw=raw-1 WHERE ${PAYMENT(victims)}`,
    ['batch_row_bonus', 'month_total', 'transaction_legs'],
  ],
};

const PAYOUT_DAMAGES: Damages<Victims> = {
  ...damagesOf('payouts'),
  'a payout of another row than the one that names it': [
    (victims) => `UPDATE payouts SET batch_row=9 WHERE ${PAYMENT(victims)}`,
    ['batch_row_bonus'],
  ],
  'a payout of no batch': [
    (victims) =>
      `UPDATE payouts SET batch_id=NULL, batch_row=NULL, reference=NULL WHERE ${PAYMENT(victims)}`,
    ['batch_row_bonus', 'batch_sums', 'event_body'],
  ],
  'a payout with another reference than its row': [
    (victims) => `UPDATE payouts SET reference='x' WHERE ${PAYMENT(victims)}`,
    ['batch_row_bonus', 'event_body'],
  ],
  'a payout to another bank account than its row': [
    (victims) => `UPDATE payouts SET account_end='0000' WHERE ${PAYMENT(victims)}`,
    ['batch_row_bonus'],
  ],
};

describe('the auditor, for batches and bonuses', () => {
  const makeVictims = (db: TestDatabase): Promise<Victims> =>
    victimsOf(db, 'bonus', (aliases) =>
      payroll(aliases.map((alias) => [alias, LEAST.toString(), 'COPM'])),
    );
  damageTests(BONUS_DAMAGES, { name: 'batch_audit', makeVictims, ofNoTenant: [] });
});

describe('the auditor, for batches of payouts', () => {
  const makeVictims = (db: TestDatabase): Promise<Victims> =>
    victimsOf(db, 'payout', (aliases) =>
      suppliers(...aliases.map((_, index) => ({ reference: `r${index}` }))),
    );
  damageTests(PAYOUT_DAMAGES, { name: 'payout_batch_audit', makeVictims, ofNoTenant: [] });
});

async function victimsOf(
  db: TestDatabase,
  kind: BatchKindName,
  file: (aliases: readonly string[]) => Buffer,
): Promise<Victims> {
  const world = await BatchWorld.open(db, { kind });
  const payer = await world.account({ funds: { COPM: 100n * LEAST } });
  for (const alias of ['$ana', '$bruno']) await world.account({ alias });
  const completed = await world.paid(payer, file(['$ana', '$bruno']));
  const executing = await world.executed(payer, file(['$ana', '$ana', '$bruno']));
  await world.execution.payNextGroup(executing.id, 1);
  return { tenantId: world.tenant.tenant.id, payer, executing, completed };
}

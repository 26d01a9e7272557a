import type { Uuid } from '../../src/core/ids.js';
import type { Batch } from '../../src/db/entities/batches.js';
import { type Damages, damageTests } from '../auditor/damages.js';
import { idLiteral, LEAST } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { suppliers } from './payout-support.js';
import { BatchWorld } from './support.js';

interface Victims {
  readonly tenantId: Uuid;
  /** Held, one row of three a payout. */
  readonly executing: Batch;
  readonly completed: Batch;
}

const ROW = (batch: Batch, number: number): string =>
  `batch_id=${idLiteral(batch.id)} AND number=${number}`;
const PAYOUT = (batch: Batch, number: number): string =>
  `batch_id=${idLiteral(batch.id)} AND batch_row=${number}`;

const DAMAGES: Damages<Victims> = {
  'a changed amount of an open row': [
    ({ executing }) => `UPDATE batch_rows SET raw=raw+1 WHERE ${ROW(executing, 3)}`,
    ['batch_sums'],
  ],
  'a row that looks open again, so that it would become a second payout': [
    ({ completed }) =>
      `UPDATE batch_rows SET status='pending', payment_id=NULL WHERE ${ROW(completed, 2)}`,
    ['batch_row_bonus', 'batch_sums', 'batch_sums'],
  ],
  'a payout of another row than the one that names it': [
    ({ completed }) => `UPDATE payouts SET batch_row=9 WHERE ${PAYOUT(completed, 2)}`,
    ['batch_row_bonus'],
  ],
  'a payout of no batch': [
    ({ completed }) =>
      `UPDATE payouts SET batch_id=NULL, batch_row=NULL, reference=NULL WHERE ${PAYOUT(completed, 2)}`,
    ['batch_row_bonus', 'batch_sums', 'event_body'],
  ],
  'a payout with another reference than its row': [
    ({ completed }) => `UPDATE payouts SET reference='x' WHERE ${PAYOUT(completed, 2)}`,
    ['batch_row_bonus', 'event_body'],
  ],
  'a payout to another bank account than its row': [
    ({ completed }) => `UPDATE payouts SET account_end='0000' WHERE ${PAYOUT(completed, 2)}`,
    ['batch_row_bonus'],
  ],
  'a hold of less than the sum of the open rows': [
    ({ executing }) =>
      `UPDATE holds SET remaining=remaining-1 WHERE resource_id=${idLiteral(executing.id)}`,
    ['held_total', 'operation_hold'],
  ],
  'a completed batch that is executing again': [
    ({ completed }) => `UPDATE batches SET status='executing' WHERE id=${idLiteral(completed.id)}`,
    ['batch_state', 'operation_event'],
  ],
  'a payout whose key is missing, so that its row could become a second one': [
    ({ completed }) =>
      `DELETE FROM idempotency_keys WHERE resource_id=(SELECT id FROM payouts WHERE ${PAYOUT(completed, 2)})`,
    ['operation_key'],
  ],
};

describe('the auditor, for batches of payouts', () => {
  damageTests(DAMAGES, { name: 'payout_batch_audit', makeVictims, ofNoTenant: [] });
});

async function makeVictims(db: TestDatabase): Promise<Victims> {
  const world = await BatchWorld.open(db, { kind: 'payout' });
  const payer = await world.account({ funds: { COPM: 100n * LEAST } });
  const completed = await world.paid(payer, suppliers({ reference: 'A' }, { reference: 'B' }));
  const executing = await world.executed(payer, suppliers({}, {}, {}));
  await world.execution.payNextGroup(executing.id, 1);
  return { tenantId: world.tenant.tenant.id, executing, completed };
}

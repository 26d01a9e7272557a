import assert from 'node:assert/strict';
import { asUuid, newId, type Uuid } from '../../src/core/ids.js';
import { proposeWithRefund } from '../../src/funding/service.js';
import { setFeeAccount } from '../../src/operations/fees.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral as id, LEAST, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { addStaff, proven } from '../helpers/staff.js';
import { openWriter, setFee, TEST_ACTOR } from '../helpers/world.js';
import { type Damages, damageTests } from './damages.js';

/** A transfer and a bonus that were refunded in part, each with one refund that waits. */
interface Victims {
  readonly tenantId: Uuid;
  readonly paid: string;
  readonly bonus: string;
  readonly refund: string;
  readonly waiting: string;
  /** A transfer between other accounts. */
  readonly other: string;
  /** The refund of the fee of a captured transfer, which is less than the held fee. */
  readonly feeRefund: string;
  /** A transfer whose fee is held. */
  readonly held: string;
  readonly receiver: string;
}

const CAPTURED_FEE = LEAST / 20n;

const sum = (table: string, set: string, which: string): string =>
  `UPDATE ${table} SET ${set} WHERE id=${id(which)}`;

const DAMAGES: Damages<Victims> = {
  'a sum of refunds that are not there': [
    ({ paid }) => sum('transfers', 'refunded_raw=refunded_raw+1', paid),
    ['refund_sums'],
  ],
  'a reserved amount for which no refund waits': [
    ({ paid }) => sum('transfers', 'refunding_raw=refunding_raw+1', paid),
    ['refund_sums'],
  ],
  'sums that forgot refunds': [
    ({ paid }) => sum('transfers', 'refunded_raw=0, refunding_raw=0', paid),
    ['refund_sums', 'refund_sums'],
  ],
  'wrong sums of a bonus': [
    ({ bonus }) => sum('bonuses', 'refunded_raw=refunding_raw+1, refunding_raw=0', bonus),
    ['refund_sums', 'refund_sums'],
  ],
  'a sum of refunds of a transfer that moved nothing': [
    ({ waiting }) => sum('transfers', 'refunded_raw=1', waiting),
    ['refund_sums', 'refund_sums'],
  ],
  'a refund of what other accounts moved': [
    ({ refund, other }) => sum('transfers', `refund_of_id=${id(other)}`, refund),
    [
      ...['operation_metadata', 'operation_metadata', 'refund_original'],
      ...['refund_sums', 'refund_sums'],
    ],
  ],
  'a refund of nothing': [
    ({ refund }) => sum('transfers', `refund_of_id=${id(newId())}`, refund),
    ['operation_metadata', 'operation_metadata', 'refund_original', 'refund_sums'],
  ],
  'a refund that has become an ordinary transfer': [
    ({ refund }) => sum('transfers', 'refund_of_id=NULL, refund_of_type=NULL', refund),
    ['month_total', 'operation_metadata', 'refund_sums'],
  ],
  'a refund that is not found by its original': [
    ({ refund }) => `DELETE FROM metadata_pairs WHERE id=${id(refund)}`,
    ['operation_metadata', 'refund_sums'],
  ],
  'a refund of more than the fee that was charged': [
    ({ feeRefund }) => sum('adjustments', `raw=${CAPTURED_FEE + 1n}`, feeRefund),
    ['fee_refund'],
  ],
  'a refund of a fee that was never paid': [
    ({ feeRefund, held }) => sum('adjustments', `refund_operation_id=${id(held)}`, feeRefund),
    ['fee_refund'],
  ],
  'a refund of the fee of nothing': [
    ({ feeRefund }) => sum('adjustments', `refund_operation_id=${id(newId())}`, feeRefund),
    ['fee_refund'],
  ],
  'a refund of a fee to an account that has not paid it': [
    ({ feeRefund, receiver }) => sum('adjustments', `account_id=${id(receiver)}`, feeRefund),
    ['fee_refund'],
  ],
};

describe('damage to refunds', () => {
  const opened = damageTests(DAMAGES, { name: 'damaged_refunds', makeVictims, ofNoTenant: [] });

  it('the database refuses sums of more than the original', async () => {
    const { db, victims } = opened();
    const all = 'refunded_raw=raw, refunding_raw=1';
    await assert.rejects(db.change(sum('transfers', all, victims.paid)));
    await assert.rejects(db.change(sum('bonuses', all, victims.bonus)));
    await assert.rejects(db.change(sum('transfers', 'refunded_raw=-1', victims.paid)));
  });
});

async function makeVictims(db: TestDatabase): Promise<Victims> {
  const api = await startTestApi(db);
  // Rows that disappear would close the ledger.
  api.core.rollbackGuard.stop();
  const own = await openGuarded(api, { threshold: 2n * LEAST });
  const { bank, guarded } = own;
  const payer = await bank.account({ funds: { COPM: 100n * LEAST } });
  const pay = { from: payer, to: guarded, raw: 10n * LEAST };
  const paid = text((await bank.sent(pay)).id);
  const other = text((await bank.sent({ ...pay, to: own.receiver })).id);
  const amount = (raw: bigint) => ({ amount: { raw: raw.toString(), asset: 'COPM' } });
  const made = { source_account: payer.id, recipient: { account_id: guarded.id } };
  const body = { ...made, ...amount(pay.raw) };
  const bonus = text(answered(await bank.request('POST', '/v1/bonuses', { body }), 201).json.id);
  const refund = async (path: string, raw: bigint, status: number): Promise<string> => {
    const asked = await bank.request('POST', `/v1/${path}/refunds`, { body: amount(raw) });
    return text(answered(asked, status).json.id);
  };
  const first = await refund(`transfers/${paid}`, LEAST, 201);
  const waiting = await refund(`transfers/${paid}`, 3n * LEAST, 202);
  await refund(`bonuses/${bonus}`, LEAST, 201);
  await refund(`bonuses/${bonus}`, 3n * LEAST, 202);
  const { id: tenantId } = bank.tenant.tenant;
  const fees = await bank.account();
  await setFeeAccount(db.deps, tenantId, fees.id, TEST_ACTOR);
  await setFee(db.database, { tenantId, basisPoints: 100n });
  const hold = async (): Promise<Uuid> =>
    asUuid(text((await bank.sent({ ...pay, capture: 'manual' })).id));
  const [held, captured] = [await hold(), await hold()];
  const capture = `/v1/transfers/${captured}/capture`;
  answered(await bank.request('POST', capture, { body: amount(pay.raw / 2n) }), 200);
  const { resource: feeRefund } = await proposeWithRefund(
    { database: db.database, writer: openWriter(db.database).writer },
    {
      ...{ tenantId, accountId: payer.id, direction: 'in', reason: 'a wrong fee' },
      ...{ amount: { raw: CAPTURED_FEE, asset: 'COPM' }, reference: `fee-refund:${captured}` },
      by: proven(await addStaff(db.database, { name: 'maria', rights: ['adjust'] })),
      refund: {
        ...{ refundName: 'fees-1', refundOperationId: captured },
        ...{ refundAttempt: 1, isActiveRefund: true },
      },
    },
  );
  const others = { feeRefund: feeRefund.id, held, receiver: guarded.id };
  return { tenantId, paid, bonus, refund: first, waiting, other, ...others };
}

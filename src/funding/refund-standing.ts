import { type Amount, formatAmount } from '../core/amount.js';
import { groupBy } from '../core/collections.js';
import { ApiError } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { asset as assetColumn, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Adjustment, adjustments } from '../db/entities/operations.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { payerReference, refundPart, refundReason } from './refund-references.js';

/** The state of refunds: what was proposed, posted and rejected under a name, and for an operation. */

/** What a payer gets back, and the account that received the operation's fee. */
interface PayerRefund extends Adjustment {
  readonly operationId: Uuid;
  readonly feeAccountId: Uuid;
}

/** What a fee account gives, or gets back if it has given too much. */
interface FeeAccountPart extends Adjustment {
  readonly tries: number;
}

export interface StandingRefund {
  readonly ofFeeAccounts: readonly FeeAccountPart[];
  readonly ofPayers: readonly PayerRefund[];
}

const SLICE = 1_000;

/** Whether it has moved money or still may. */
export function isAlive({ status }: Pick<Adjustment, 'status'>): boolean {
  return status !== 'rejected';
}

export async function standingRefund(reader: Reader, tenantId: Uuid, name: string): Promise<StandingRefund> {
  // The only wildcard of LIKE that a name can contain is the underscore, which also matches itself.
  const rows = await reader.query(
    `SELECT ${columnList(adjustments)} FROM adjustments WHERE tenant_id=${uuid.literal(tenantId)}
     AND reason LIKE ${literal(adjustments, 'reason', `${refundReason(name, '')}%`)} ORDER BY id`,
  );
  const ofFeeAccounts: FeeAccountPart[] = [];
  const byOperation: (Adjustment & { readonly operationId: Uuid })[] = [];
  for (const row of rows) {
    const adjustment = parseRow(adjustments, row);
    const part = refundPart(name, adjustment);
    if (part?.of === 'payer') byOperation.push({ ...adjustment, operationId: part.operationId });
    if (part?.of === 'fee account') ofFeeAccounts.push({ ...adjustment, tries: part.tries });
  }
  const ofPayers: PayerRefund[] = [];
  for (let from = 0; from < byOperation.length; from += SLICE)
    ofPayers.push(...(await withFeeAccounts(reader, tenantId, byOperation.slice(from, from + SLICE))));
  return { ofFeeAccounts, ofPayers };
}

/** Only what goes back to the operation's payer is its refund. */
async function withFeeAccounts(
  reader: Reader,
  tenantId: Uuid,
  slice: readonly (Adjustment & { readonly operationId: Uuid })[],
): Promise<readonly PayerRefund[]> {
  const ids = slice.map(({ operationId }) => uuid.literal(operationId)).join(',');
  const found = await reader.query(
    ['transfers', 'bonuses', 'payouts']
      .map(
        (table) => `SELECT id, source_account_id, fee_account_id, asset FROM ${table}
          WHERE id IN (${ids}) AND tenant_id=${uuid.literal(tenantId)} AND fee_account_id IS NOT NULL`,
      )
      .join(' UNION ALL '),
  );
  const operations = new Map(found.map((row) => [uuid.parse(row.id), row]));
  return slice.flatMap((one) => {
    const row = operations.get(one.operationId);
    if (row === undefined || uuid.parse(row.source_account_id) !== one.accountId) return [];
    return assetColumn.parse(row.asset) === one.asset ? [{ ...one, feeAccountId: uuid.parse(row.fee_account_id) }] : [];
  });
}

/** The last try of each of these operations that has one. */
export async function lastTries(
  reader: Reader,
  tenantId: Uuid,
  operationIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, { readonly adjustment: Adjustment; readonly tries: number }>> {
  const last = new Map<Uuid, { readonly adjustment: Adjustment; readonly tries: number }>();
  let asked = operationIds;
  for (let tries = 1; asked.length > 0; tries += 1) {
    const byReference = new Map(asked.map((id) => [payerReference(id, tries), id]));
    const found = await reader.select(adjustments, { tenantId, reference: [...byReference.keys()] });
    asked = found.flatMap((adjustment) => {
      const id = byReference.get(adjustment.reference);
      if (id === undefined) return [];
      last.set(id, { adjustment, tries });
      return isAlive(adjustment) ? [] : [id];
    });
  }
  return last;
}

/** What goes back comes out of a fee account, and all of it. Throws ApiError invalid_state where a part is missing. */
export function assertEven(name: string, { ofFeeAccounts, ofPayers }: StandingRefund): void {
  const alive = [...ofFeeAccounts, ...ofPayers].filter(isAlive);
  for (const [asset, own] of groupBy(alive, (one) => one.asset)) {
    const sum = (direction: Adjustment['direction']): Amount => {
      const raw = own.filter((one) => one.direction === direction).reduce((total, one) => total + one.raw, 0n);
      return { raw, asset };
    };
    const [out, back] = [sum('out'), sum('in')];
    if (out.raw === back.raw) continue;
    const message = `under ${name} the fee accounts would give ${formatAmount(out)} and ${formatAmount(back)} would go back: a part was rejected, or not all of it was proposed; propose it again first`;
    throw new ApiError({ code: 'invalid_state', message });
  }
}

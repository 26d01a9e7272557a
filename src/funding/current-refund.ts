import { type Amount, type Asset, formatAmount } from '../core/amount.js';
import { groupBy } from '../core/collections.js';
import { ApiError, invalidField, invalidState } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { bonuses } from '../db/entities/bonuses.js';
import {
  type Adjustment,
  adjustments,
  type Transfer,
  transfers,
} from '../db/entities/operations.js';
import type { FeeOperation } from '../db/entities/parties.js';
import { payouts } from '../db/entities/payouts.js';
import { type Table, withColumns } from '../db/table.js';

interface PayerRefund extends Adjustment {
  readonly operationId: Uuid;
  readonly feeAccountId: Uuid;
}

export interface CurrentRefund {
  /** The sums that fee accounts give, or receive back if they have given too much. */
  readonly feeAccountParts: readonly Adjustment[];
  readonly payerRefunds: readonly PayerRefund[];
}

export const CHARGED_COLUMNS = [
  'id',
  'createdAt',
  'sourceAccountId',
  'feeAccountId',
  'raw',
  'feeRaw',
] as const;

interface ChargedOperations {
  readonly table: Table<Pick<Transfer, (typeof CHARGED_COLUMNS)[number]>>;
  /** Index of the tenant, these states and the time of creation. */
  readonly index: string;
  readonly oneOf: readonly string[];
}
/** The operations that have paid their fee. */
export const CHARGED: Readonly<Record<FeeOperation, ChargedOperations>> = {
  transfer: { table: transfers, index: 'status', oneOf: ["t.status='completed'"] },
  bonus: { table: bonuses, index: 'tenant', oneOf: [] },
  payout: {
    table: payouts,
    index: 'status',
    oneOf: ["t.status='completed'", "t.status='returned'"],
  },
};
const PAGE_SIZE = 1_000;

/** Returns the amounts and fees of captured transfers, which may be less than the held ones. */
export async function readCaptures(
  reader: Reader,
  operations: readonly { readonly id: Uuid }[],
): Promise<ReadonlyMap<Uuid, Pick<Transfer, 'raw' | 'feeRaw'>>> {
  const columns = withColumns(transfers, ['id', 'capturedRaw', 'capturedFeeRaw']);
  const found = await reader.select(columns, { id: operations.map(({ id }) => id) });
  return new Map(
    found.flatMap(({ id, capturedRaw: raw, capturedFeeRaw: feeRaw }) =>
      raw === null || feeRaw === null ? [] : [[id, { raw, feeRaw }]],
    ),
  );
}

/** True if the adjustment is proposed or posted. */
export function isActive({ status }: Pick<Adjustment, 'status'>): boolean {
  return status !== 'rejected';
}

export async function readCurrentRefund(
  reader: Reader,
  tenantId: Uuid,
  name: string,
): Promise<CurrentRefund> {
  const where = { tenantId, refundName: name };
  const parts = await reader.select(adjustments, where, { orderBy: ['id'] });
  const ofPayers = parts.flatMap((part) =>
    part.refundOperationId === null ? [] : [{ ...part, operationId: part.refundOperationId }],
  );
  const payerRefunds: PayerRefund[] = [];
  for (let from = 0; from < ofPayers.length; from += PAGE_SIZE) {
    const slice = ofPayers.slice(from, from + PAGE_SIZE);
    const feeAccountOf = await readFeeAccounts(reader, slice);
    for (const one of slice) {
      const feeAccountId = feeAccountOf.get(one.operationId);
      if (feeAccountId === undefined) throw new Error('a refunded operation has no fee account');
      payerRefunds.push({ ...one, feeAccountId });
    }
  }
  return {
    feeAccountParts: parts.filter(({ refundOperationId }) => refundOperationId === null),
    payerRefunds,
  };
}

async function readFeeAccounts(
  reader: Reader,
  refunds: readonly { readonly operationId: Uuid }[],
): Promise<ReadonlyMap<Uuid, Uuid>> {
  const ids = refunds.map(({ operationId }) => uuid.literal(operationId)).join(',');
  const rows = await reader.query(
    Object.values(CHARGED)
      .map(({ table }) => `SELECT id, fee_account_id FROM ${table.name} WHERE id IN (${ids})`)
      .join(' UNION ALL '),
  );
  return new Map(rows.map((row) => [uuid.parse(row.id), uuid.parse(row.fee_account_id)]));
}

/** Reads each operation's last refund: the proposed or posted one, or the last rejected one. */
export async function readLastRefunds(
  reader: Reader,
  operationIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, Adjustment>> {
  if (operationIds.length === 0) return new Map();
  const where = { refundOperationId: operationIds };
  const found = await reader.select(adjustments, where, { orderBy: ['refundAttempt'] });
  return new Map(
    found.flatMap((one) => (one.refundOperationId === null ? [] : [[one.refundOperationId, one]])),
  );
}

/** Throws invalid_state unless the refunds equal the sums taken from the fee accounts. */
export function assertBalanced(
  name: string,
  { feeAccountParts, payerRefunds }: CurrentRefund,
): void {
  const accountParts = feeAccountParts.map((part) => ({ ...part, feeAccountId: part.accountId }));
  const active = [...accountParts, ...payerRefunds].filter(isActive);
  for (const [feeAccountId, parts] of groupBy(active, (one) => one.feeAccountId))
    for (const [asset, own] of groupBy(parts, (one) => one.asset)) {
      const [out, back] = [sumOf(own, 'out', asset), sumOf(own, 'in', asset)];
      if (out.raw !== back.raw)
        throw new ApiError(
          invalidState(
            `under ${name} the fee account ${feeAccountId} would give ${formatAmount(out)} and ${formatAmount(back)} would go back: a part was rejected, or not all of it was proposed; propose it again first`,
          ),
        );
    }
}

function sumOf(
  parts: readonly Adjustment[],
  direction: Adjustment['direction'],
  asset: Asset,
): Amount {
  const raw = parts
    .filter((one) => one.direction === direction)
    .reduce((total, one) => total + one.raw, 0n);
  return { raw, asset };
}

const NAME = /^[A-Za-z0-9_-]{1,24}$/;

export function assertRefundName(name: string): void {
  if (!NAME.test(name)) throw new ApiError(invalidField('reference', 'pattern'));
}

/** Returns a reference that no other adjustment can have, because operators' have no colon. */
export function refundReference(owner: string, id: Uuid, attempt: number): string {
  return attempt === 1 ? `${owner}:${id}` : `${owner}:${id}:${attempt}`;
}

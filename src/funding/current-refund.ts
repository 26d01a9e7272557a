import { type Amount, type Asset, formatAmount } from '../core/amount.js';
import { groupBy } from '../core/collections.js';
import { ApiError, invalidField, invalidState } from '../core/errors.js';
import { isCanonicalUuid, type Uuid } from '../core/ids.js';
import { asset as assetColumn, bigint, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { type Adjustment, adjustments } from '../db/entities/operations.js';
import type { FeeOperation } from '../db/entities/parties.js';
import { columnList, literal } from '../db/statements.js';
import { parseRow } from '../db/table.js';

interface PayerRefund extends Adjustment {
  readonly operationId: Uuid;
  readonly feeAccountId: Uuid;
}

/** The sum that a fee account gives, or receives back if it has given too much. */
interface FeeAccountPart extends Adjustment {
  readonly tries: number;
}

export interface CurrentRefund {
  readonly feeAccountParts: readonly FeeAccountPart[];
  readonly payerRefunds: readonly PayerRefund[];
  /** Refunds for an account that did not pay the fee, above the fee, or for a second time. */
  readonly invalidRefunds: readonly Adjustment[];
}

type OperationRefund = Adjustment & { readonly operationId: Uuid };

/** FROM and WHERE for the operations that have paid their fee. */
export const CHARGED_SQL: Readonly<Record<FeeOperation, string>> = {
  transfer: "transfers WHERE status='completed'",
  bonus: 'bonuses WHERE TRUE',
  payout: "payouts WHERE status IN ('completed','returned')",
};
const PAGE_SIZE = 1_000;

/** True if the adjustment is proposed or posted. */
export function isActive({ status }: Pick<Adjustment, 'status'>): boolean {
  return status !== 'rejected';
}

export async function readCurrentRefund(
  reader: Reader,
  tenantId: Uuid,
  name: string,
): Promise<CurrentRefund> {
  // The only wildcard of LIKE that a name can contain is the underscore, which also matches itself.
  const rows = await reader.query(
    `SELECT ${columnList(adjustments)} FROM adjustments WHERE tenant_id=${uuid.literal(tenantId)}
     AND reason LIKE ${literal(adjustments, 'reason', `${refundReason(name, '')}%`)} ORDER BY id`,
  );
  const feeAccountParts: FeeAccountPart[] = [];
  const byOperation: OperationRefund[] = [];
  for (const row of rows) {
    const adjustment = parseRow(adjustments, row);
    const part = refundPart(name, adjustment);
    if (part?.of === 'payer') byOperation.push({ ...adjustment, operationId: part.operationId });
    if (part?.of === 'fee account') feeAccountParts.push({ ...adjustment, tries: part.tries });
  }
  const payerRefunds: PayerRefund[] = [];
  for (let from = 0; from < byOperation.length; from += PAGE_SIZE)
    payerRefunds.push(
      ...(await selectValidRefunds(reader, tenantId, byOperation.slice(from, from + PAGE_SIZE))),
    );
  const validIds = new Set(payerRefunds.map(({ id }) => id));
  const invalidRefunds = byOperation.filter(
    ({ id, status }) => status === 'proposed' && !validIds.has(id),
  );
  return { feeAccountParts, payerRefunds, invalidRefunds };
}

/** Returns the refunds that go to the operation's payer, at most the fee, and only once. */
async function selectValidRefunds(
  reader: Reader,
  tenantId: Uuid,
  slice: readonly OperationRefund[],
): Promise<readonly PayerRefund[]> {
  const ids = slice.map(({ operationId }) => operationId);
  const found = await reader.query(
    Object.values(CHARGED_SQL)
      .map(
        (charged) => `SELECT id, source_account_id, fee_account_id, asset, fee_raw FROM ${charged}
          AND id IN (${ids.map((id) => uuid.literal(id)).join(',')}) AND tenant_id=${uuid.literal(tenantId)}
          AND fee_account_id IS NOT NULL`,
      )
      .join(' UNION ALL '),
  );
  const operations = new Map(found.map((row) => [uuid.parse(row.id), row]));
  const last = await readLastTries(reader, tenantId, ids);
  return slice.flatMap((one) => {
    const row = operations.get(one.operationId);
    if (row === undefined || (isActive(one) && last.get(one.operationId)?.adjustment.id !== one.id))
      return [];
    const isToPayer = uuid.parse(row.source_account_id) === one.accountId;
    const isOfFee =
      assetColumn.parse(row.asset) === one.asset && one.raw <= bigint.parse(row.fee_raw);
    return isToPayer && isOfFee ? [{ ...one, feeAccountId: uuid.parse(row.fee_account_id) }] : [];
  });
}

/** Reads each operation's last refund: the proposed or posted one, or the last rejected one. */
export async function readLastTries(
  reader: Reader,
  tenantId: Uuid,
  operationIds: readonly Uuid[],
): Promise<ReadonlyMap<Uuid, { readonly adjustment: Adjustment; readonly tries: number }>> {
  const last = new Map<Uuid, { readonly adjustment: Adjustment; readonly tries: number }>();
  let queried = operationIds;
  for (let tries = 1; queried.length > 0; tries += 1) {
    const byReference = new Map(queried.map((id) => [payerReference(id, tries), id]));
    const found = await reader.select(adjustments, {
      tenantId,
      reference: [...byReference.keys()],
    });
    queried = found.flatMap((adjustment) => {
      const id = byReference.get(adjustment.reference);
      if (id === undefined) return [];
      last.set(id, { adjustment, tries });
      return isActive(adjustment) ? [] : [id];
    });
  }
  return last;
}

/**
 * Throws invalid_state unless the refunds equal the sums taken from the fee accounts, or if a
 * proposal is not part of the refund.
 */
export function assertBalanced(
  name: string,
  { feeAccountParts, payerRefunds, invalidRefunds }: CurrentRefund,
): void {
  const feeAccounts = new Set(payerRefunds.map(({ feeAccountId }) => feeAccountId));
  const foreign = feeAccountParts.filter(
    ({ status, accountId }) => status === 'proposed' && !feeAccounts.has(accountId),
  );
  for (const { reference } of [...invalidRefunds, ...foreign])
    throw new ApiError(
      invalidState(
        `${reference} does not belong to ${name} as it is proposed: find out who proposed it and why, and reject it, or propose the refund again if that stopped half-way`,
      ),
    );
  const accountParts = feeAccountParts.map((part) => ({
    ...part,
    feeAccountId: part.accountId,
  }));
  const valid = [...accountParts, ...payerRefunds].filter(
    (one) => isActive(one) && feeAccounts.has(one.feeAccountId),
  );
  for (const [feeAccountId, parts] of groupBy(valid, (one) => one.feeAccountId))
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

/**
 * References of refunds are numbered by try: `fee-refund.<operation>`, `fee-refund.<operation>.2`.
 * The operators' name for the whole refund precedes the reason.
 */

/** The name in references of refunds to payers, which operators may not use. */
const PAYER_PREFIX = 'fee-refund';
const NAME = /^[A-Za-z0-9_-]{1,24}$/;
const LAST_TRY = 99;
const REFERENCE = /^([A-Za-z0-9_-]{1,24})\.([0-9a-f-]{36})(?:\.([2-9]|[1-9][0-9]))?$/;

type RefundPart =
  | { readonly of: 'payer'; readonly operationId: Uuid; readonly tries: number }
  | { readonly of: 'fee account'; readonly tries: number };

export function assertRefundName(name: string): void {
  if (!NAME.test(name) || name === PAYER_PREFIX)
    throw new ApiError(invalidField('reference', 'pattern'));
}

/** Refuses an adjustment that could pass for a part of a refund, whose approvers see only sums. */
export function assertNotRefundPart({
  reference,
  accountId,
}: Pick<Adjustment, 'reference' | 'accountId'>): void {
  const [, of, id] = REFERENCE.exec(reference) ?? [];
  if (of !== undefined && (of === PAYER_PREFIX || id === accountId))
    throw new ApiError(invalidField('reference', 'names_a_fee_refund'));
}

/** Returns a reference without the operators' name, so that no operation is refunded twice. */
export function payerReference(operationId: Uuid, tries: number): string {
  return referenceOf(PAYER_PREFIX, operationId, tries);
}

export function feeAccountReference(name: string, accountId: Uuid, tries: number): string {
  return referenceOf(name, accountId, tries);
}

function referenceOf(name: string, id: Uuid, tries: number): string {
  if (tries > LAST_TRY)
    throw new ApiError(invalidState(`${name}.${id} was rejected ${LAST_TRY} times`));
  return tries === 1 ? `${name}.${id}` : `${name}.${id}.${tries}`;
}

export function refundReason(name: string, reason: string): string {
  return `${name}: ${reason}`;
}

/** Returns null for an adjustment outside the refund, even if its reason begins with the name. */
export function refundPart(
  name: string,
  {
    reference,
    reason,
    accountId,
    direction,
  }: Pick<Adjustment, 'reference' | 'reason' | 'accountId' | 'direction'>,
): RefundPart | null {
  const [, of, id, text = '1'] = REFERENCE.exec(reference) ?? [];
  if (id === undefined || !isCanonicalUuid(id) || !reason.startsWith(refundReason(name, '')))
    return null;
  const tries = Number.parseInt(text, 10);
  if (of === PAYER_PREFIX)
    return direction === 'in' ? { of: 'payer', operationId: id, tries } : null;
  return of === name && id === accountId ? { of: 'fee account', tries } : null;
}

import type { Amount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { asset, integer, string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type BonusBatch, bonusBatches } from '../../db/entities/bonuses.js';
import {
  type Adjustment,
  adjustments,
  type Transfer,
  transfers,
} from '../../db/entities/operations.js';
import { type Payout, payouts } from '../../db/entities/payouts.js';
import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { columnList } from '../../db/statements.js';
import { parseRow, type Table } from '../../db/table.js';
import { payoutApproval } from '../../payouts/approvals.js';
import { transferApproval } from '../../transfers/approval-outcomes.js';

/** Resources of all tenants that need a person, the first to expire or the oldest first. */

interface List<Row> {
  readonly table: Table<Row>;
  /** FROM clause with conditions, in which the table is `t`. */
  readonly from: string;
  readonly order: string;
  /** Column with the amount. Null if the rows have no amount. */
  readonly amount: 'raw' | 'total_raw' | null;
}

const PENDING = `t.status=${string.literal('pending_approval')}`;

export interface WaitingRows {
  readonly transfers: Transfer;
  readonly payouts: Payout;
  readonly stuck: Payout;
  readonly batches: BonusBatch;
  readonly endpoints: WebhookEndpoint;
  readonly adjustments: Adjustment;
}
export type WaitingKind = keyof WaitingRows;

const LISTS: { readonly [K in WaitingKind]: List<WaitingRows[K]> } = {
  /** First to expire first, in the order of the index on the expiry. */
  transfers: {
    table: transfers,
    from: `${transferApproval.expiring.from} AND ${transferApproval.expiring.expiresAt} IS NOT NULL AND ${PENDING}`,
    order: transferApproval.expiring.expiresAt,
    amount: 'raw',
  },
  payouts: {
    table: payouts,
    from: payoutApproval.expiring.from,
    order: payoutApproval.expiring.expiresAt,
    amount: 'raw',
  },
  stuck: {
    table: payouts,
    from: 'payouts t FORCE INDEX (stuck) WHERE t.stuck_since IS NOT NULL',
    order: 't.stuck_since',
    amount: 'raw',
  },
  /** A tenant has a quota of batches that have not ended, so there are few. */
  batches: {
    table: bonusBatches,
    from: `bonus_batches t FORCE INDEX (by_status) WHERE t.status IN ('validating','ready','executing')`,
    order: 't.created_at, t.id',
    amount: 'total_raw',
  },
  /**
   * A tenant has at most 16 endpoints that are not deleted, so all are examined. Endpoints disabled
   * by their tenant are not listed.
   */
  endpoints: {
    table: webhookEndpoints,
    from: `webhook_endpoints t FORCE INDEX (due) WHERE t.status IN ('enabled','disabled')
    AND (t.failing_since IS NOT NULL OR t.paused_at IS NOT NULL OR (t.status='disabled' AND t.disabled_reason<>'by_tenant'))`,
    order: 'COALESCE(t.failing_since, t.disabled_at, t.paused_at), t.id',
    amount: null,
  },
  /** Proposed by hand, so there are never many. */
  adjustments: {
    table: adjustments,
    from: `adjustments t WHERE t.status='proposed'`,
    order: 't.created_at, t.id',
    amount: 'raw',
  },
};
export const WAITING_KINDS = Object.keys(LISTS) as readonly WaitingKind[];

/** Maximum of listed rows, at which counting stops too. */
export const MAX_LISTED = 1_000;

/** Restricts a list. Null means any. */
export interface WaitingFilter {
  readonly tenantId: Uuid | null;
  /** Smallest amount, which also restricts the asset. */
  readonly least: Amount | null;
}

function fromSql(
  { from, amount }: Pick<List<unknown>, 'from' | 'amount'>,
  { tenantId, least }: WaitingFilter,
): string {
  const own = tenantId === null ? '' : ` AND t.tenant_id=${uuid.literal(tenantId)}`;
  if (least === null || amount === null) return `${from}${own}`;
  return `${from}${own} AND t.asset=${asset.literal(least.asset)} AND t.${amount}>=${least.raw}`;
}

const ALL: WaitingFilter = { tenantId: null, least: null };

interface WaitingPage<Row> {
  readonly items: readonly Row[];
  readonly hasMore: boolean;
}

export async function readWaiting<K extends WaitingKind>(
  reader: Reader,
  kind: K,
  { skip, limit }: { readonly skip: number; readonly limit: number },
  filter = ALL,
): Promise<WaitingPage<WaitingRows[K]>> {
  const list: List<WaitingRows[K]> = LISTS[kind];
  const rows = await reader.query(
    `SELECT ${columnList(list.table, 't')} FROM ${fromSql(list, filter)}
     ORDER BY ${list.order} LIMIT ${Math.trunc(limit) + 1} OFFSET ${Math.trunc(skip)}`,
  );
  const items = rows.slice(0, limit).map((row) => parseRow(list.table, row));
  return { items, hasMore: rows.length > limit && skip + limit < MAX_LISTED };
}

/** Returns the number of rows. `MAX_LISTED` + 1 means more. */
export async function countWaiting(
  reader: Reader,
  kind: WaitingKind,
  filter = ALL,
): Promise<number> {
  const [row] = await reader.query(
    `SELECT COUNT(*) AS found FROM (SELECT 1 FROM ${fromSql(LISTS[kind], filter)} LIMIT ${MAX_LISTED + 1}) few`,
  );
  return integer.parse(row?.found);
}

/** Number of the most urgent resources among which the next one is chosen. */
const MAX_NEXT = 200;

/**
 * Returns the id after this one in the list's order, or the first one if this id is not in the
 * list. Returns null if the list has no other.
 */
export async function nextWaiting(
  reader: Reader,
  kind: WaitingKind,
  id: Uuid,
): Promise<Uuid | null> {
  const { from, order } = LISTS[kind];
  const rows = await reader.query(`SELECT t.id FROM ${from} ORDER BY ${order} LIMIT ${MAX_NEXT}`);
  const ids = rows.map((row) => uuid.parse(row.id));
  const next = ids[ids.indexOf(id) + 1] ?? ids[0];
  return next === undefined || next === id ? null : next;
}

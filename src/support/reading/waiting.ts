import { integer, string } from '../../db/columns.js';
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

/** Resources of all tenants that wait for people, oldest or first to expire first. */

interface List<Row> {
  readonly table: Table<Row>;
  /** FROM clause with conditions, in which the table is `t`. */
  readonly from: string;
  readonly order: string;
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
  },
  payouts: {
    table: payouts,
    from: payoutApproval.expiring.from,
    order: payoutApproval.expiring.expiresAt,
  },
  stuck: {
    table: payouts,
    from: 'payouts t FORCE INDEX (stuck) WHERE t.stuck_since IS NOT NULL',
    order: 't.stuck_since',
  },
  /** A tenant has a quota of batches that have not ended, so there are few. */
  batches: {
    table: bonusBatches,
    from: `bonus_batches t FORCE INDEX (by_status) WHERE t.status IN ('validating','ready','executing')`,
    order: 't.created_at, t.id',
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
  },
  /** Proposed by hand, so there are never many. */
  adjustments: {
    table: adjustments,
    from: `adjustments t WHERE t.status='proposed'`,
    order: 't.created_at, t.id',
  },
};
export const WAITING_KINDS = Object.keys(LISTS) as readonly WaitingKind[];

/** Maximum of listed rows, at which counting stops too. */
export const MAX_LISTED = 1_000;

interface WaitingPage<Row> {
  readonly items: readonly Row[];
  readonly hasMore: boolean;
}

export async function readWaiting<K extends WaitingKind>(
  reader: Reader,
  kind: K,
  { skip, limit }: { readonly skip: number; readonly limit: number },
): Promise<WaitingPage<WaitingRows[K]>> {
  const { table, from, order }: List<WaitingRows[K]> = LISTS[kind];
  const rows = await reader.query(
    `SELECT ${columnList(table, 't')} FROM ${from} ORDER BY ${order} LIMIT ${Math.trunc(limit) + 1} OFFSET ${Math.trunc(skip)}`,
  );
  const items = rows.slice(0, limit).map((row) => parseRow(table, row));
  return { items, hasMore: rows.length > limit && skip + limit < MAX_LISTED };
}

/** Returns the number of rows. `MAX_LISTED` + 1 means more. */
export async function countWaiting(reader: Reader, kind: WaitingKind): Promise<number> {
  const [row] = await reader.query(
    `SELECT COUNT(*) AS found FROM (SELECT 1 FROM ${LISTS[kind].from} LIMIT ${MAX_LISTED + 1}) few`,
  );
  return integer.parse(row?.found);
}

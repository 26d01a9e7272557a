import type { Amount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { asset, integer, string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { columnList } from '../../db/statements.js';
import { parseRow, type Table } from '../../db/table.js';
import { payoutApproval } from '../../payouts/decide.js';
import { transferApproval } from '../../transfers/approval-outcomes.js';
import { type Rows, TABLES } from './search.js';

interface List {
  readonly title: string;
  /** Heading of the most urgent ones on the start page. */
  readonly urgent: string;
  readonly short: string;
  readonly rows: keyof Rows;
  /** FROM clause with conditions, in which the table is `t`. */
  readonly from: string;
  readonly order: string;
  /** Column with the amount. Null if the rows have no amount. */
  readonly amount: 'raw' | 'total_raw' | null;
}

const PENDING = `t.status=${string.literal('pending_approval')}`;

/** Lists of what may need a person, each with the most urgent first. */
export const LISTS = {
  /** First to expire first, in the order of the index on the expiry. */
  transfers: {
    title: 'Transfers that need approval',
    urgent: 'Transfers that expire soonest',
    short: 'Transfers to approve',
    rows: 'transfers',
    from: `${transferApproval.expiring.from} AND ${transferApproval.expiring.expiresAt} IS NOT NULL AND ${PENDING}`,
    order: transferApproval.expiring.expiresAt,
    amount: 'raw',
  },
  payouts: {
    title: 'Payouts that need approval',
    urgent: 'Payouts that expire soonest',
    short: 'Payouts to approve',
    rows: 'payouts',
    from: payoutApproval.expiring.from,
    order: payoutApproval.expiring.expiresAt,
    amount: 'raw',
  },
  stuck: {
    title: 'Stuck payouts',
    urgent: 'Payouts stuck longest',
    short: 'Stuck payouts',
    rows: 'payouts',
    from: 'payouts t FORCE INDEX (stuck) WHERE t.stuck_since IS NOT NULL',
    order: 't.stuck_since',
    amount: 'raw',
  },
  /** Not yet stuck. A rail usually answers within a minute. */
  unanswered: {
    title: 'Payouts without an answer from their rail',
    urgent: 'Payouts without an answer for longest',
    short: 'Payouts without an answer',
    rows: 'payouts',
    from: `payouts t FORCE INDEX (submitted) WHERE t.status='in_progress' AND t.stuck_since IS NULL
    AND t.submitted_at<UTC_TIMESTAMP(3)-INTERVAL 1 MINUTE AND NOT EXISTS
    (SELECT 1 FROM payout_rail_events e FORCE INDEX (payout) WHERE e.payout_id=t.id AND e.reported IS NOT NULL)`,
    order: 't.submitted_at, t.id',
    amount: 'raw',
  },
  proposals: {
    title: 'Payouts whose proposed outcome needs a second person',
    urgent: 'Oldest proposed outcomes',
    short: 'Proposed outcomes',
    rows: 'payouts',
    from: `payout_resolutions r FORCE INDEX (status) STRAIGHT_JOIN payouts t ON t.id=r.payout_id
    WHERE r.status='proposed'`,
    order: 'r.created_at, r.id',
    amount: 'raw',
  },
  /** A tenant has a quota of open batches, so there are few. */
  batches: {
    title: 'Batches in progress',
    urgent: 'Oldest batches',
    short: 'Batches in progress',
    rows: 'batches',
    from: `bonus_batches t FORCE INDEX (by_status) WHERE t.status IN ('validating','ready','executing')`,
    order: 't.created_at, t.id',
    amount: 'total_raw',
  },
  rejected: {
    title: 'Rejected batches of the last 24 hours',
    urgent: 'Newest rejected batches',
    short: 'Rejected batches',
    rows: 'batches',
    from: `bonus_batches t FORCE INDEX (by_status) WHERE t.status='rejected'
    AND t.created_at>UTC_TIMESTAMP(3)-INTERVAL 1 DAY`,
    order: 't.created_at DESC, t.id DESC',
    amount: 'total_raw',
  },
  /** A tenant has at most 16 endpoints, so all are examined. */
  endpoints: {
    title: 'Webhook endpoints that fail or are paused',
    urgent: 'Failing and paused webhook endpoints',
    short: 'Failing endpoints',
    rows: 'endpoints',
    from: `webhook_endpoints t FORCE INDEX (due) WHERE t.status IN ('enabled','disabled')
    AND (t.failing_since IS NOT NULL OR t.paused_at IS NOT NULL OR (t.status='disabled' AND t.disabled_reason<>'by_tenant'))`,
    order: 'COALESCE(t.failing_since, t.disabled_at, t.paused_at), t.id',
    amount: null,
  },
  adjustments: {
    title: 'Adjustments that need a second person',
    urgent: 'Oldest proposed adjustments',
    short: 'Adjustments to post',
    rows: 'adjustments',
    from: `adjustments t WHERE t.status='proposed'`,
    order: 't.created_at, t.id',
    amount: 'raw',
  },
} as const satisfies Readonly<Record<string, List>>;
export type WaitingKind = keyof typeof LISTS;
export const WAITING_KINDS = Object.keys(LISTS) as readonly WaitingKind[];

/** Maximum of listed rows, at which counting stops too. */
export const MAX_LISTED = 1_000;

/** Restricts a list. Null means any. */
export interface WaitingFilter {
  readonly tenantId: Uuid | null;
  /** Smallest amount, which also restricts the asset. */
  readonly least: Amount | null;
}

const ALL: WaitingFilter = { tenantId: null, least: null };

function fromSql(kind: WaitingKind, { tenantId, least }: WaitingFilter): string {
  const { from, amount } = LISTS[kind];
  const own = tenantId === null ? '' : ` AND t.tenant_id=${uuid.literal(tenantId)}`;
  if (least === null || amount === null) return `${from}${own}`;
  return `${from}${own} AND t.asset=${asset.literal(least.asset)} AND t.${amount}>=${least.raw}`;
}

type RowOf<K extends WaitingKind> = Rows[(typeof LISTS)[K]['rows']];

export async function readWaiting<K extends WaitingKind>(
  reader: Reader,
  kind: K,
  { skip, limit }: { readonly skip: number; readonly limit: number },
  filter = ALL,
): Promise<{ readonly items: readonly RowOf<K>[]; readonly hasMore: boolean }> {
  const table = TABLES[LISTS[kind].rows] as Table<never>;
  const rows = await reader.query(
    `SELECT ${columnList(table, 't')} FROM ${fromSql(kind, filter)}
     ORDER BY ${LISTS[kind].order} LIMIT ${Math.trunc(limit) + 1} OFFSET ${Math.trunc(skip)}`,
  );
  const items = rows.slice(0, limit).map((row) => parseRow(table, row));
  return { items, hasMore: rows.length > limit && skip + limit < MAX_LISTED };
}

/** Returns the number of rows. `MAX_LISTED` + 1 means more. */
export async function countWaiting(
  reader: Reader,
  kind: WaitingKind,
  filter = ALL,
): Promise<number> {
  const [row] = await reader.query(
    `SELECT COUNT(*) AS found FROM (SELECT 1 FROM ${fromSql(kind, filter)} LIMIT ${MAX_LISTED + 1}) few`,
  );
  return integer.parse(row?.found);
}

/** Number of the most urgent resources among which the next one is chosen. */
const MAX_NEXT = 200;

/** Returns the id after this one in the list, else the first other id, else null. */
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

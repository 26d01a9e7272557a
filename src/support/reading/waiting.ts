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
  /** Contents, as far as the title does not name them, and order. */
  readonly about: string;
  readonly rows: keyof Rows;
  /** FROM clause with conditions, in which the table is `t`. */
  readonly from: string;
  readonly order: string;
  /** Column with the amount. Null if the rows have no amount. */
  readonly amount: 'raw' | 'total_raw' | null;
}

const PENDING = `t.status=${string.literal('pending_approval')}`;

/** Lists of resources that may need a person, in the order of the start page. */
export const LISTS = {
  transfers: {
    title: 'Transfers to approve',
    about: 'First to expire first',
    rows: 'transfers',
    from: `${transferApproval.expiring.from} AND ${transferApproval.expiring.expiresAt} IS NOT NULL AND ${PENDING}`,
    order: transferApproval.expiring.expiresAt,
    amount: 'raw',
  },
  payouts: {
    title: 'Payouts to approve',
    about: 'First to expire first',
    rows: 'payouts',
    from: payoutApproval.expiring.from,
    order: payoutApproval.expiring.expiresAt,
    amount: 'raw',
  },
  proposals: {
    title: 'Proposed outcomes',
    about: 'A second person must apply or reject them, oldest first',
    rows: 'payouts',
    from: `payout_resolutions r FORCE INDEX (status) STRAIGHT_JOIN payouts t ON t.id=r.payout_id
    WHERE r.status='proposed'`,
    order: 'r.created_at, r.id',
    amount: 'raw',
  },
  adjustments: {
    title: 'Adjustments to post',
    about: 'A second person must post or reject them, oldest first',
    rows: 'adjustments',
    from: `adjustments t WHERE t.status='proposed'`,
    order: 't.created_at, t.id',
    amount: 'raw',
  },
  stuck: {
    title: 'Stuck payouts',
    about: 'Stuck longest first',
    rows: 'payouts',
    from: 'payouts t FORCE INDEX (stuck) WHERE t.stuck_since IS NOT NULL',
    order: 't.stuck_since',
    amount: 'raw',
  },
  /** Not yet stuck. A rail usually answers within a minute. */
  unanswered: {
    title: 'Payouts without an answer',
    about: 'Sent to their rail at least a minute ago, longest first',
    rows: 'payouts',
    from: `payouts t FORCE INDEX (submitted) WHERE t.status='in_progress' AND t.stuck_since IS NULL
    AND t.submitted_at<UTC_TIMESTAMP(3)-INTERVAL 1 MINUTE AND NOT EXISTS
    (SELECT 1 FROM payout_rail_events e FORCE INDEX (payout) WHERE e.payout_id=t.id AND e.reported IS NOT NULL)`,
    order: 't.submitted_at, t.id',
    amount: 'raw',
  },
  /** A tenant has at most 16 endpoints, so all are examined. */
  endpoints: {
    title: 'Failing endpoints',
    about: 'Webhook endpoints that fail or are paused, longest first',
    rows: 'endpoints',
    from: `webhook_endpoints t FORCE INDEX (due) WHERE t.status IN ('enabled','disabled')
    AND (t.failing_since IS NOT NULL OR t.paused_at IS NOT NULL OR (t.status='disabled' AND t.disabled_reason<>'by_tenant'))`,
    order: 'COALESCE(t.failing_since, t.disabled_at, t.paused_at), t.id',
    amount: null,
  },
  rejected: {
    title: 'Rejected batches',
    about: 'Of the last 24 hours, newest first',
    rows: 'batches',
    from: `batches t FORCE INDEX (by_status) WHERE t.status='rejected'
    AND t.created_at>UTC_TIMESTAMP(3)-INTERVAL 1 DAY`,
    order: 't.created_at DESC, t.id DESC',
    amount: 'total_raw',
  },
  /** A tenant has a quota of open batches, so there are few. */
  batches: {
    title: 'Batches in progress',
    about: 'Oldest first',
    rows: 'batches',
    from: `batches t FORCE INDEX (by_status) WHERE t.status IN ('validating','ready','executing')`,
    order: 't.created_at, t.id',
    amount: 'total_raw',
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

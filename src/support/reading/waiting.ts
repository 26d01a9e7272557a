import { SUPPORT } from '../../approvals/rules.js';
import type { AmountRange } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import type { TimePosition } from '../../core/page.js';
import { integer, string, time, uuid } from '../../db/columns.js';
import type { Reader, StoredRow } from '../../db/database.js';
import { approvals } from '../../db/entities/approvals.js';
import { amountsSql, columnList } from '../../db/statements.js';
import { parseRow, type Table } from '../../db/table.js';
import { wordFilters } from '../../operations/list-search.js';
import { payoutApproval } from '../../payouts/decide.js';
import { actionRefusal, type StaffActionName, type StaffIdentity } from '../../staff/rules.js';
import { transferApproval } from '../../transfers/approval-outcomes.js';
import { type Rows, TABLES } from './search.js';

interface List {
  readonly title: string;
  /** Contents, as far as the title does not name them, and order. */
  readonly about: string;
  readonly rows: keyof Rows;
  /** FROM clause with conditions, in which the table is `t`. */
  readonly from: string;
  /** Time by which the rows are ordered. Rows of the same time are ordered by the id of `t`. */
  readonly at: string;
  /** Time without the other tables of `from`, also of a row that has left the list. */
  readonly lastAt?: string;
  readonly newestFirst?: true;
  /** Column with the amount. Null if the rows have no amount. */
  readonly amount: 'raw' | 'total_raw' | null;
  /** Column with who requested it, and the actions that decide it. Absent if nothing is decided. */
  readonly decision?: {
    readonly requester: string;
    readonly actions: readonly StaffActionName[];
  };
}

const PENDING = `t.status=${string.literal('pending_approval')}`;
/** Support approves once, so that afterwards only members can. */
const NOT_APPROVED = `NOT EXISTS (SELECT 1 FROM approvals a FORCE INDEX (approver)
  WHERE a.resource_id=t.id AND a.approver=${string.literal(SUPPORT)})`;

/** Lists of resources that may need a person, in the order of the start page. */
export const LISTS = {
  transfers: {
    title: 'Transfers to approve',
    about: 'First to expire first',
    rows: 'transfers',
    from: `${transferApproval.expiring.from} AND ${transferApproval.expiring.expiresAt} IS NOT NULL AND ${PENDING} AND ${NOT_APPROVED}`,
    at: transferApproval.expiring.expiresAt,
    lastAt: 't.approval_expires_at',
    amount: 'raw',
    decision: { requester: 't.created_by', actions: ['transfer.approve', 'transfer.reject'] },
  },
  payouts: {
    title: 'Payouts to approve',
    about: 'First to expire first',
    rows: 'payouts',
    from: `${payoutApproval.expiring.from} AND ${NOT_APPROVED}`,
    at: payoutApproval.expiring.expiresAt,
    amount: 'raw',
    decision: { requester: 't.created_by', actions: ['payout.approve', 'payout.reject'] },
  },
  proposals: {
    title: 'Proposed outcomes',
    about: 'A second person must apply or reject them, oldest first',
    rows: 'payouts',
    from: `payout_resolutions r FORCE INDEX (status) STRAIGHT_JOIN payouts t ON t.id=r.payout_id
    WHERE r.status='proposed'`,
    at: 'r.created_at',
    lastAt: '(SELECT MAX(r.created_at) FROM payout_resolutions r WHERE r.payout_id=t.id)',
    amount: 'raw',
    decision: {
      requester: 'r.proposed_by_id',
      actions: ['payout.resolve_approve', 'payout.resolve_reject'],
    },
  },
  adjustments: {
    title: 'Adjustments to post',
    about: 'A second person must post or reject them, oldest first',
    rows: 'adjustments',
    from: `adjustments t FORCE INDEX (status) WHERE t.status='proposed'`,
    at: 't.created_at',
    amount: 'raw',
    decision: {
      requester: 't.proposed_by_id',
      actions: ['adjustment.approve', 'adjustment.reject'],
    },
  },
  stuck: {
    title: 'Stuck payouts',
    about: 'Stuck longest first',
    rows: 'payouts',
    from: 'payouts t FORCE INDEX (stuck) WHERE t.stuck_since IS NOT NULL',
    at: 't.stuck_since',
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
    at: 't.submitted_at',
    amount: 'raw',
  },
  /** A tenant has at most 16 endpoints, so all are examined. */
  endpoints: {
    title: 'Failing endpoints',
    about: 'Webhook endpoints that fail or are paused, longest first',
    rows: 'endpoints',
    from: `webhook_endpoints t FORCE INDEX (due) WHERE t.status IN ('enabled','disabled')
    AND (t.failing_since IS NOT NULL OR t.paused_at IS NOT NULL OR (t.status='disabled' AND t.disabled_reason<>'by_tenant'))`,
    at: 'COALESCE(t.failing_since, t.disabled_at, t.paused_at)',
    amount: null,
  },
  rejected: {
    title: 'Failed batches',
    about: 'Rejected or partially failed in the last 24 hours, newest first',
    rows: 'batches',
    // A batch that is a month old has ended.
    from: `batches t FORCE INDEX (by_status) WHERE t.status IN ('rejected','partially_failed')
    AND t.created_at>UTC_TIMESTAMP(3)-INTERVAL 31 DAY
    AND COALESCE(t.finished_at,t.created_at)>UTC_TIMESTAMP(3)-INTERVAL 1 DAY`,
    at: 't.created_at',
    newestFirst: true,
    amount: 'total_raw',
  },
  /** A tenant has a quota of open batches, so there are few. */
  batches: {
    title: 'Batches in progress',
    about: 'Oldest first',
    rows: 'batches',
    from: `batches t FORCE INDEX (by_status) WHERE t.status IN ('validating','ready','executing')`,
    at: 't.created_at',
    amount: 'total_raw',
  },
} as const satisfies Readonly<Record<string, List>>;
export type WaitingKind = keyof typeof LISTS;
const listOf = (kind: WaitingKind): List => LISTS[kind];
export const WAITING_KINDS = Object.keys(LISTS) as readonly WaitingKind[];

/** Number of rows at which counting stops. */
export const MAX_COUNTED = 1_000;

/** Restricts a list. Null means any. */
export interface WaitingFilter {
  readonly tenantId: Uuid | null;
  readonly amounts: readonly AmountRange[] | null;
  /** Parts of words of a text of the row or of a name. */
  readonly text?: string;
  readonly isReversed?: boolean;
  /** Only what this person has the right to decide, and did not request. */
  readonly decidedBy?: StaffIdentity | undefined;
}

const ALL: WaitingFilter = { tenantId: null, amounts: null };

function fromSql(kind: WaitingKind, filter: WaitingFilter): string {
  const { tenantId, amounts, text = '', decidedBy } = filter;
  const { from, amount, rows, decision } = listOf(kind);
  return [
    from,
    ...(tenantId === null ? [] : [`t.tenant_id=${uuid.literal(tenantId)}`]),
    ...(amounts && amount !== null ? [amountsSql('t.asset', `t.${amount}`, amounts)] : []),
    ...wordFilters(TABLES[rows], 't', text),
    ...(decidedBy === undefined ? [] : [decidableSql(decision, decidedBy)]),
  ].join(' AND ');
}

function decidableSql(decision: List['decision'], by: StaffIdentity): string {
  const mayDecide = decision?.actions.some((action) => actionRefusal(action, by) === null);
  return decision && mayDecide ? `${decision.requester}<>${uuid.literal(by.id)}` : 'FALSE';
}

type RowOf<K extends WaitingKind> = Rows[(typeof LISTS)[K]['rows']];

interface WaitingPage<Row> {
  readonly items: readonly Row[];
  /** Position of the last item. Null on the last page. */
  readonly next: TimePosition | null;
}

/** Returns rows after the position, or the first rows for null. */
export async function readWaiting<K extends WaitingKind>(
  reader: Reader,
  kind: K,
  after: TimePosition | null,
  limit: number,
  filter = ALL,
): Promise<WaitingPage<RowOf<K>>> {
  const { rows: name, at, newestFirst } = listOf(kind);
  const table = TABLES[name] as Table<never>;
  const isDescending = (newestFirst === true) !== (filter.isReversed === true);
  const [sign, direction] = isDescending ? ['<', 'DESC'] : ['>', 'ASC'];
  const last = after && time.literal(after.createdAt);
  const following =
    after === null
      ? ''
      : ` AND ${at}${sign}=${last} AND (${at}${sign}${last} OR t.id${sign}${uuid.literal(after.id)})`;
  const rows = await reader.query(
    `SELECT ${columnList(table, 't')}, t.id AS last_id, ${at} AS last_at FROM ${fromSql(kind, filter)}${following}
     ORDER BY ${at} ${direction}, t.id ${direction} LIMIT ${Math.trunc(limit) + 1}`,
  );
  const items = rows.slice(0, limit).map((row) => parseRow(table, row));
  return { items, next: rows.length > limit ? positionOf(rows[limit - 1]) : null };
}

function positionOf(row: StoredRow | undefined): TimePosition | null {
  return row === undefined || row.last_at === null
    ? null
    : { createdAt: time.parse(row.last_at), id: uuid.parse(row.last_id) };
}

/** Returns the number of rows. `MAX_COUNTED` + 1 means more. */
export async function countWaiting(
  reader: Reader,
  kind: WaitingKind,
  filter = ALL,
): Promise<number> {
  const [row] = await reader.query(
    `SELECT COUNT(*) AS found FROM (SELECT 1 FROM ${fromSql(kind, filter)} LIMIT ${MAX_COUNTED + 1}) few`,
  );
  return integer.parse(row?.found);
}

/**
 * Returns the id after this one in the filtered list. After the last, returns the first other id;
 * null without one.
 */
export async function nextWaiting(
  reader: Reader,
  kind: WaitingKind,
  id: Uuid,
  filter = ALL,
): Promise<{ readonly id: Uuid; readonly isAfterLast: boolean } | null> {
  const { rows: name, at, lastAt = at } = listOf(kind);
  const [own] = await reader.query(
    `SELECT t.id AS last_id, ${lastAt} AS last_at FROM ${TABLES[name].name} t WHERE t.id=${uuid.literal(id)}`,
  );
  const position = positionOf(own);
  for (const after of position === null ? [null] : [position, null]) {
    const { items } = await readWaiting(reader, kind, after, 2, filter);
    const next = items.find((item) => item.id !== id);
    if (next !== undefined) return { id: next.id, isAfterLast: after !== position };
  }
  return null;
}

/** Returns those of the resources that support has approved. */
export async function readApprovedBySupport(
  reader: Reader,
  resourceId: readonly Uuid[],
): Promise<ReadonlySet<Uuid>> {
  const given = await reader.select(approvals, { resourceId, approver: SUPPORT });
  return new Set(given.map((approval) => approval.resourceId));
}

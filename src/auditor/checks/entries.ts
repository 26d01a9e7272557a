import { type Asset, eachAsset } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { asset, bigint, integer, nullable, oneOf, string, uuid } from '../../db/columns.js';
import type { Reader, StoredRow } from '../../db/database.js';
import { ENTRY_KINDS, RESOURCE_TYPES, type ResourceType } from '../../db/entities/ledger.js';
import { wasReset } from '../../ledger/clock-resets.js';
import { describePosted, legFact, placeOf, type PostedLeg } from '../facts.js';
import type { AuditRun, Check } from '../run.js';
import { afterKey, type Visit, walk } from '../walk.js';

const ENTRIES_A_SLICE = 2_000;

export interface AuditedEntry extends PostedLeg {
  readonly seq: bigint;
  readonly transactionId: Uuid;
  readonly totalAfter: bigint;
  /** As stored: fixed width, so it sorts by time. */
  readonly createdAt: string;
  readonly hasAccount: boolean;
  /** Its ledger transaction has the same date. */
  readonly isDated: boolean;
  /** Its ledger transaction; null if missing. */
  readonly transaction: {
    readonly relatedType: ResourceType;
    readonly relatedId: Uuid;
    readonly tenantId: Uuid;
  } | null;
}

/** What is known of an account's entries up to one of them. Entries never change, so it stays valid. */
interface Progress {
  readonly accountId: Uuid;
  seq: bigint;
  createdAt: string;
  readonly totals: Record<Asset, bigint>;
}

/**
 * Every entry in its account's order: numbered without gaps, never dated backwards except where an operator reset the
 * clock, its total the previous one plus its amount, its account and transaction present. Together with the last total
 * matching the balance (accounts.ts) this proves every balance. Its ledger transaction is compared with what the
 * operation calls for in crossing.ts.
 */
export const entryChecks: Check = {
  tables: ['entries'],
  run: async (audit) => {
    const memory = audit.memory<{ progress?: Progress }>({});
    await walkEntries(audit, async (reader, entries) => {
      const own = entries.filter((entry) => isOwn(audit, entry));
      audit.counted('entries', own.length);
      for (const entry of entries) tally(audit, entry);
      for (const entry of own) {
        if (memory.progress?.accountId !== entry.account.id)
          memory.progress = startOf(entry.account.id);
        const { progress } = memory;
        const isBefore = entry.createdAt < progress.createdAt;
        if (isBefore && (await wasReset(reader, entry.account.id, progress.seq)))
          progress.createdAt = '';
        checkEntry(audit, progress, entry);
      }
    });
  },
};

/** In an audit of one tenant, the walk also covers other accounts' legs of the tenant's transactions. */
function isOwn({ tenantId }: AuditRun, { account }: AuditedEntry): boolean {
  return tenantId === undefined || account.tenantId === tenantId;
}

/** Every audited entry, and every entry of the audited tenant's ledger transactions, by account. */
export async function walkEntries(audit: AuditRun, visit: Visit<AuditedEntry>): Promise<void> {
  await walk(audit, ENTRIES_A_SLICE, (reader, after) => readEntries(reader, audit, after), visit);
}

async function readEntries(
  reader: Reader,
  { tenantId }: AuditRun,
  after: AuditedEntry | undefined,
): Promise<AuditedEntry[]> {
  const conditions = ['TRUE'];
  if (after !== undefined)
    conditions.push(
      afterKey('e.account_id', 'e.seq', {
        first: uuid.literal(after.account.id),
        second: after.seq.toString(),
      }),
    );
  if (tenantId !== undefined) {
    const own = uuid.literal(tenantId);
    conditions.push(`(a.tenant_id=${own} OR t.tenant_id=${own})`);
  }
  // Only an audit of one tenant asks for the tenants of accounts without a role, and a NULL costs least.
  const tenantOf = (place: string): string =>
    tenantId === undefined
      ? `IF(${place}.system_role IS NULL, NULL, ${place}.tenant_id)`
      : `${place}.tenant_id`;
  const rows = await reader.query(
    `SELECT STRAIGHT_JOIN e.account_id, e.seq, e.transaction_id, e.asset, e.kind, e.raw, e.total_after, e.created_at,
      e.counterparty_account_id, a.id IS NOT NULL AS has_account, ${tenantOf('a')} AS tenant_id, a.system_role,
      ${tenantOf('c')} AS c_tenant_id, c.system_role AS c_system_role, t.related_type, t.related_id,
      t.tenant_id AS t_tenant_id, t.created_at<=>e.created_at AS is_dated
     FROM entries e FORCE INDEX (PRIMARY) LEFT JOIN accounts a ON a.id=e.account_id
      LEFT JOIN accounts c ON c.id=e.counterparty_account_id LEFT JOIN ledger_transactions t ON t.id=e.transaction_id
     WHERE ${conditions.join(' AND ')} ORDER BY e.account_id, e.seq LIMIT ${ENTRIES_A_SLICE}`,
  );
  const [accountId, owner] = [repeated(), repeated()];
  return rows.map((row) => parseEntry(row, accountId, owner));
}

const kind = oneOf(ENTRY_KINDS);
const relatedType = oneOf(RESOURCE_TYPES);

/** Parses ids of which most are the same as in the row before: it is quicker to see that. */
function repeated(): (stored: unknown) => Uuid {
  let [last, id]: [Buffer | null, Uuid | null] = [null, null];
  return (stored) => {
    if (id !== null && last !== null && Buffer.isBuffer(stored) && last.equals(stored)) return id;
    id = uuid.parse(stored);
    last = Buffer.isBuffer(stored) ? stored : null;
    return id;
  };
}

type ParseId = ReturnType<typeof repeated>;

function parseEntry(row: StoredRow, accountId: ParseId, owner: ParseId): AuditedEntry {
  const counterpartyId = nullable(uuid).parse(row.counterparty_account_id);
  return {
    account: placeOf(accountId(row.account_id), row, ''),
    seq: bigint.parse(row.seq),
    transactionId: uuid.parse(row.transaction_id),
    asset: asset.parse(row.asset),
    kind: kind.parse(row.kind),
    raw: bigint.parse(row.raw),
    totalAfter: bigint.parse(row.total_after),
    createdAt: string.parse(row.created_at),
    counterparty: counterpartyId === null ? null : placeOf(counterpartyId, row, 'c_'),
    hasAccount: integer.parse(row.has_account) === 1,
    isDated: integer.parse(row.is_dated) === 1,
    transaction:
      row.related_id === null
        ? null
        : {
            relatedType: relatedType.parse(row.related_type),
            relatedId: uuid.parse(row.related_id),
            tenantId: owner(row.t_tenant_id),
          },
  };
}

/**
 * Tallies the entry as a leg of its operation, and its amount under its transaction's id: a transaction's legs must sum
 * to zero.
 */
function tally(audit: AuditRun, entry: AuditedEntry): void {
  const { transaction, transactionId, raw } = entry;
  if (
    transaction === null ||
    (audit.tenantId !== undefined && transaction.tenantId !== audit.tenantId)
  )
    return;
  const { relatedId, relatedType: type, tenantId } = transaction;
  if (!entry.isDated)
    audit.report(
      'transaction_time',
      `ledger transaction ${transactionId}`,
      'an entry has another date',
    );
  if (!audit.isInTime(relatedId)) return;
  audit.tally.add(relatedId, legFact(type, describePosted(entry, tenantId)), -1);
  // The lower 32 bits of an amount are enough, and a number multiplies them exactly.
  // eslint-disable-next-line no-restricted-syntax -- no amount any more
  audit.tally.add(relatedId, `${transactionId} ${entry.asset}`, Number(BigInt.asIntN(32, raw)));
}

function startOf(accountId: Uuid): Progress {
  return { accountId, seq: 0n, createdAt: '', totals: eachAsset(() => 0n) };
}

/** Continues from what is stored, right or wrong, so that one damaged entry is reported once. */
function checkEntry(audit: AuditRun, before: Progress, entry: AuditedEntry): void {
  const subject = `entry ${entry.account.id}/${entry.seq}`;
  const { asset: ofAsset, raw, totalAfter } = entry;
  if (!entry.hasAccount) audit.report('entry_account', subject, 'there is no such account');
  if (entry.transaction === null)
    audit.report('entry_transaction', subject, 'its ledger transaction does not exist');
  if (entry.seq !== before.seq + 1n)
    audit.report('entry_seq', subject, `it follows number ${before.seq}`);
  if (totalAfter !== before.totals[ofAsset] + raw)
    audit.report(
      'entry_total',
      subject,
      `${before.totals[ofAsset]} and ${raw} do not make its total of ${totalAfter}`,
    );
  if (entry.createdAt < before.createdAt)
    audit.report(
      'entry_time',
      subject,
      `it is dated ${entry.createdAt}, the entry before it ${before.createdAt}`,
    );
  before.seq = entry.seq;
  before.createdAt = entry.createdAt;
  before.totals[ofAsset] = totalAfter;
}

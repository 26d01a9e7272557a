import { type Asset, eachAsset } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { asset, bigint, integer, nullable, oneOf, string, uuid } from '../../db/columns.js';
import type { Reader, StoredRow } from '../../db/database.js';
import { ENTRY_KINDS, RESOURCE_TYPES } from '../../db/entities/ledger.js';
import { wasClockReset } from '../../ledger/database-clock.js';
import { describePosted, partyOf, type Totals } from '../totals.js';
import { afterKey, type AuditRun, scan } from '../scan.js';

const ENTRIES_PER_SLICE = 2_000;

export type AuditedEntry = ReturnType<typeof parseEntry>;

interface Progress {
  readonly accountId: Uuid;
  seq: bigint;
  createdAt: string;
  readonly totals: Record<Asset, bigint>;
}

/**
 * Checks all entries of each account: numbers, dates (except where an operator reset the clock),
 * running totals, account and transaction. Because the last total is compared with the balance
 * (accounts.ts), this proves every balance.
 */
export async function checkEntries(audit: AuditRun, totals: Totals): Promise<void> {
  let progress: Progress | undefined;
  const read = (reader: Reader, after: AuditedEntry | undefined): Promise<AuditedEntry[]> => {
    const from = (one: AuditedEntry): string =>
      afterKey(['e.account_id', 'e.seq'], [uuid.literal(one.account.id), one.seq.toString()]);
    const condition = after === undefined ? 'TRUE' : from(after);
    return readEntries(audit, reader, condition, ` LIMIT ${ENTRIES_PER_SLICE}`);
  };
  await scan(audit, ENTRIES_PER_SLICE, read, async (reader, entries) => {
    for (const entry of entries) addToTotals(audit, totals, entry);
    const own = entries.filter(
      ({ account }) => audit.tenantId === undefined || account.tenantId === audit.tenantId,
    );
    audit.countRows('entries', own.length);
    for (const entry of own) {
      if (progress?.accountId !== entry.account.id) progress = startOf(entry.account.id);
      const isBefore = entry.createdAt < progress.createdAt;
      if (isBefore && (await wasClockReset(reader, entry.account.id, progress.seq)))
        progress.createdAt = '';
      checkEntry(audit, progress, entry);
    }
  });
}

/** Reads entries by account. For one tenant, those of its accounts and ledger transactions. */
export async function readEntries(
  audit: AuditRun,
  reader: Reader,
  condition: string,
  limit = '',
): Promise<AuditedEntry[]> {
  const own = [audit.tenantConditions('a.tenant_id'), audit.tenantConditions('t.tenant_id')]
    .flat()
    .join(' OR ');
  // Only an audit of one tenant needs the tenants of accounts without a role.
  const tenantOf = (party: string): string =>
    own === ''
      ? `IF(${party}.system_role IS NULL, NULL, ${party}.tenant_id)`
      : `${party}.tenant_id`;
  const rows = await reader.query(
    `SELECT STRAIGHT_JOIN e.account_id, e.seq, e.transaction_id, e.asset, e.kind, e.raw,
      e.total_after, e.created_at, e.counterparty_account_id, a.id IS NOT NULL AS has_account,
      ${tenantOf('a')} AS tenant_id, a.system_role, ${tenantOf('c')} AS c_tenant_id,
      c.system_role AS c_system_role, t.related_type, t.related_id, t.tenant_id AS t_tenant_id,
      t.created_at<=>e.created_at AS has_transaction_date
     FROM entries e FORCE INDEX (PRIMARY) LEFT JOIN accounts a ON a.id=e.account_id
      LEFT JOIN accounts c ON c.id=e.counterparty_account_id
      LEFT JOIN ledger_transactions t ON t.id=e.transaction_id
     WHERE ${condition}${own === '' ? '' : ` AND (${own})`} ORDER BY e.account_id, e.seq${limit}`,
  );
  return rows.map(parseEntry);
}

const kind = oneOf(ENTRY_KINDS);
const relatedType = oneOf(RESOURCE_TYPES);

function parseEntry(row: StoredRow) {
  const counterpartyId = nullable(uuid).parse(row.counterparty_account_id);
  return {
    account: partyOf(uuid.parse(row.account_id), row, ''),
    seq: bigint.parse(row.seq),
    transactionId: uuid.parse(row.transaction_id),
    asset: asset.parse(row.asset),
    kind: kind.parse(row.kind),
    raw: bigint.parse(row.raw),
    totalAfter: bigint.parse(row.total_after),
    /** Fixed width, so that text order is time order. */
    createdAt: string.parse(row.created_at),
    counterparty: counterpartyId === null ? null : partyOf(counterpartyId, row, 'c_'),
    hasAccount: integer.parse(row.has_account) === 1,
    hasTransactionDate: integer.parse(row.has_transaction_date) === 1,
    transaction:
      row.related_id === null
        ? null
        : {
            relatedType: relatedType.parse(row.related_type),
            relatedId: uuid.parse(row.related_id),
            tenantId: uuid.parse(row.t_tenant_id),
          },
  };
}

/** Subtracts the entry from its operation's totals, and adds its amount, which must sum to 0. */
function addToTotals(audit: AuditRun, totals: Totals, entry: AuditedEntry): void {
  const { transaction, transactionId, raw, hasTransactionDate } = entry;
  const isForeign = audit.tenantId !== undefined && transaction?.tenantId !== audit.tenantId;
  if (transaction === null || isForeign) return;
  const { relatedId, relatedType: type, tenantId } = transaction;
  const subject = `ledger transaction ${transactionId}`;
  audit.report('transaction_time', subject, !hasTransactionDate && 'an entry has another date');
  totals.add(relatedId, `${type} ${describePosted(entry, tenantId)}`, -1);
  // The lower 32 bits of the amounts suffice to detect a difference, and a number holds them exactly.
  // eslint-disable-next-line no-restricted-syntax -- no amount any more
  totals.add(relatedId, `${transactionId} ${entry.asset}`, Number(BigInt.asIntN(32, raw)));
}

function startOf(accountId: Uuid): Progress {
  return { accountId, seq: 0n, createdAt: '', totals: eachAsset(() => 0n) };
}

/** Continues from the stored values, so that one damaged entry causes one finding. */
function checkEntry(audit: AuditRun, before: Progress, entry: AuditedEntry): void {
  const { account, seq, raw, totalAfter, createdAt } = entry;
  const total = before.totals[entry.asset];
  audit.reportAll(`entry ${account.id}/${seq}`, {
    entry_account: !entry.hasAccount && 'there is no such account',
    entry_transaction: entry.transaction === null && 'its ledger transaction does not exist',
    entry_seq: seq !== before.seq + 1n && `it follows number ${before.seq}`,
    entry_total:
      totalAfter !== total + raw && `${total} and ${raw} do not make its total of ${totalAfter}`,
    entry_time:
      createdAt < before.createdAt &&
      `it is dated ${createdAt}, the entry before it ${before.createdAt}`,
  });
  before.seq = seq;
  before.createdAt = createdAt;
  before.totals[entry.asset] = totalAfter;
}

import type { Asset } from '../../../core/amount.js';
import { asset, bigint, string, uuid } from '../../../db/columns.js';
import type { Reader, StoredRow } from '../../../db/database.js';
import { type AuditRun, type Check, eachAsset } from '../run.js';
import { idOfHex, wasReset } from '../clock-resets.js';
import { afterKey, walk, whereAll } from '../walk.js';

const ENTRIES_A_SLICE = 10_000;

interface AuditedEntry {
  readonly accountId: string;
  readonly seq: bigint;
  readonly asset: Asset;
  readonly raw: bigint;
  readonly totalAfter: bigint;
  /** As stored: of fixed width, so its order is that of time. */
  readonly createdAt: string;
  readonly hasAccount: boolean;
  readonly hasTransaction: boolean;
}

/** What is known of an account's entries up to one of them. Entries never change, so it holds across slices. */
interface Progress {
  readonly accountId: string;
  seq: bigint;
  createdAt: string;
  readonly totals: Record<Asset, bigint>;
}

/**
 * Every entry in its account's order: numbered without gaps, dated never backwards but where an operator said so, its total the one before it plus its
 * amount, its account and transaction there. With the last total in the balance (accounts.ts) every balance is proved.
 */
export const entryChecks: Check = {
  tables: ['entries'],
  run: async (audit) => {
    let progress: Progress | undefined;
    await walk(
      audit,
      ENTRIES_A_SLICE,
      (reader, after: AuditedEntry | undefined) => readEntries(reader, audit, after),
      async (reader, entries) => {
        audit.counted('entries', entries.length);
        for (const entry of entries) {
          if (progress?.accountId !== entry.accountId) progress = startOf(entry.accountId);
          const isBefore = entry.createdAt < progress.createdAt;
          if (isBefore && (await wasReset(reader, idOfHex(entry.accountId), progress.seq))) progress.createdAt = '';
          checkEntry(audit, progress, entry);
        }
      },
    );
  },
};

async function readEntries(reader: Reader, audit: AuditRun, after: AuditedEntry | undefined): Promise<AuditedEntry[]> {
  const conditions = [
    ...(after === undefined
      ? []
      : [afterKey('e.account_id', 'e.seq', { first: `X'${after.accountId}'`, second: after.seq.toString() })]),
    ...(audit.tenantId === undefined ? [] : [`a.tenant_id=${uuid.literal(audit.tenantId)}`]),
  ];
  const rows = await reader.query(
    `SELECT STRAIGHT_JOIN HEX(e.account_id) AS account_id, e.seq, e.asset, e.raw, e.total_after, e.created_at,
      a.id IS NOT NULL AS has_account, t.id IS NOT NULL AS has_transaction
     FROM entries e FORCE INDEX (PRIMARY) LEFT JOIN accounts a ON a.id=e.account_id
      LEFT JOIN ledger_transactions t ON t.id=e.transaction_id${whereAll(conditions)}
     ORDER BY e.account_id, e.seq LIMIT ${ENTRIES_A_SLICE}`,
  );
  return rows.map(parseEntry);
}

function parseEntry(row: StoredRow): AuditedEntry {
  return {
    accountId: string.parse(row.account_id).toLowerCase(),
    seq: bigint.parse(row.seq),
    asset: asset.parse(row.asset),
    raw: bigint.parse(row.raw),
    totalAfter: bigint.parse(row.total_after),
    createdAt: string.parse(row.created_at),
    hasAccount: bigint.parse(row.has_account) === 1n,
    hasTransaction: bigint.parse(row.has_transaction) === 1n,
  };
}

function startOf(accountId: string): Progress {
  return { accountId, seq: 0n, createdAt: '', totals: eachAsset(() => 0n) };
}

/** Goes on from what is stored, right or wrong, so that one damaged entry is not reported again for all that follow. */
function checkEntry(audit: AuditRun, before: Progress, entry: AuditedEntry): void {
  const subject = `entry ${entry.accountId}/${entry.seq}`;
  const { asset: ofAsset, raw, totalAfter } = entry;
  if (!entry.hasAccount) audit.report('entry_account', subject, 'there is no such account');
  if (!entry.hasTransaction) audit.report('entry_transaction', subject, 'its ledger transaction does not exist');
  if (entry.seq !== before.seq + 1n) audit.report('entry_seq', subject, `it follows number ${before.seq}`);
  if (totalAfter !== before.totals[ofAsset] + raw)
    audit.report('entry_total', subject, `${before.totals[ofAsset]} and ${raw} do not make its total of ${totalAfter}`);
  if (entry.createdAt < before.createdAt)
    audit.report('entry_time', subject, `it is dated ${entry.createdAt}, the entry before it ${before.createdAt}`);
  before.seq = entry.seq;
  before.createdAt = entry.createdAt;
  before.totals[ofAsset] = totalAfter;
}

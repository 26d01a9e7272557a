import { groupBy } from '../../../core/collections.js';
import type { Uuid } from '../../../core/ids.js';
import { nullable, oneOf, uuid } from '../../../db/columns.js';
import type { Reader, StoredRow } from '../../../db/database.js';
import { entries, type Entry, type LedgerTransaction, ledgerTransactions } from '../../../db/entities/ledger.js';
import { SYSTEM_ROLES, type SystemRole } from '../../../db/entities/parties.js';
import { columnList } from '../../../db/statements.js';
import { parseRow } from '../../../db/table.js';
import { type AuditRun, type Check, eachAsset } from '../run.js';
import { sourceOf } from '../sources/index.js';
import type { Expectation, ExpectedEntry } from '../sources/types.js';
import { idList, ROWS_A_SLICE, walkById } from '../walk.js';

interface PostedEntry {
  readonly entry: Entry;
  readonly account: Place;
  readonly counterparty: Place | null;
}

/** An account, with what it is to a tenant when it is a system account. */
interface Place {
  readonly id: Uuid;
  readonly tenantId: Uuid | null;
  readonly role: SystemRole | null;
}

/** Every ledger transaction: balanced, of an operation that exists, and with exactly the entries that this one makes. */
export const transactionChecks: Check = {
  tables: ['ledger_transactions'],
  run: (audit) =>
    walkById(audit, ledgerTransactions, ROWS_A_SLICE, async (reader, slice) => {
      audit.counted('ledger_transactions', slice.length);
      const posted = groupBy(await readEntries(reader, slice), ({ entry }) => entry.transactionId);
      for (const [type, own] of groupBy(slice, (transaction) => transaction.relatedType)) {
        const expected = await sourceOf(type)?.expectations(
          reader,
          own.map((transaction) => transaction.relatedId),
        );
        for (const transaction of own) {
          const itsEntries = posted.get(transaction.id) ?? [];
          checkEntries(audit, transaction, itsEntries);
          checkOperation(audit, transaction, itsEntries, expected?.get(transaction.relatedId));
        }
      }
    }),
};

async function readEntries(reader: Reader, transactions: readonly LedgerTransaction[]): Promise<PostedEntry[]> {
  const rows = await reader.query(
    `SELECT STRAIGHT_JOIN ${columnList(entries, 'e')}, a.tenant_id, a.system_role,
      c.tenant_id AS c_tenant_id, c.system_role AS c_system_role
     FROM entries e FORCE INDEX (transaction) LEFT JOIN accounts a ON a.id=e.account_id
      LEFT JOIN accounts c ON c.id=e.counterparty_account_id
     WHERE e.transaction_id IN (${idList(transactions.map((transaction) => transaction.id)) ?? 'NULL'})`,
  );
  return rows.map((row) => {
    const entry = parseRow(entries, row);
    const { accountId, counterpartyAccountId } = entry;
    const counterparty = counterpartyAccountId === null ? null : placeOf(counterpartyAccountId, row, 'c_');
    return { entry, account: placeOf(accountId, row, ''), counterparty };
  });
}

const role = nullable(oneOf(SYSTEM_ROLES));

function placeOf(id: Uuid, row: StoredRow, prefix: string): Place {
  const tenantId = nullable(uuid).parse(row[`${prefix}tenant_id`]);
  return { id, tenantId, role: role.parse(row[`${prefix}system_role`]) };
}

function checkEntries(audit: AuditRun, transaction: LedgerTransaction, posted: readonly PostedEntry[]): void {
  const subject = `ledger transaction ${transaction.id}`;
  if (posted.length === 0) audit.report('transaction_entries', subject, 'it has no entries');
  const sums = eachAsset(() => 0n);
  for (const { entry } of posted) sums[entry.asset] += entry.raw;
  for (const [asset, sum] of Object.entries(sums))
    if (sum !== 0n) audit.report('transaction_sum', subject, `its entries in ${asset} sum to ${sum}`);
  if (posted.some(({ entry }) => entry.createdAt !== transaction.createdAt))
    audit.report('transaction_time', subject, 'an entry has another date');
}

function checkOperation(
  audit: AuditRun,
  transaction: LedgerTransaction,
  posted: readonly PostedEntry[],
  operation: Expectation | undefined,
): void {
  const subject = `ledger transaction ${transaction.id}`;
  const of = `${transaction.relatedType} ${transaction.relatedId}`;
  if (operation === undefined) return audit.report('transaction_resource', subject, `there is no ${of}`);
  if (operation.tenantId !== transaction.tenantId)
    audit.report('transaction_resource', subject, `${of} is another tenant's`);
  // How many there are of it is compared where the operation is (operations.ts).
  if (posted.length === 0 || operation.postings.length === 0) return;
  const found = signature(posted.map((one) => describePosted(one, operation.tenantId)));
  const wanted = operation.postings.map((one) => signature(one.map(describeExpected)));
  if (!wanted.includes(found))
    audit.report('transaction_legs', subject, `${of} makes [${wanted.join('] or [')}], but it has [${found}]`);
}

function signature(legs: readonly string[]): string {
  return [...legs].sort().join('; ');
}

function describeExpected({ account, asset, raw, kind, counterparty }: ExpectedEntry): string {
  return `${kind} ${raw} ${asset} on ${account} with ${counterparty}`;
}

function describePosted({ entry, account, counterparty }: PostedEntry, tenantId: Uuid): string {
  const name = (place: Place | null): string => {
    if (place === null) return 'nobody';
    return place.role !== null && place.tenantId === tenantId ? place.role : place.id;
  };
  return `${entry.kind} ${entry.raw} ${entry.asset} on ${name(account)} with ${name(counterparty)}`;
}

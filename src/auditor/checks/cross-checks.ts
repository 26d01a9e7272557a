import { eachAsset } from '../../core/amount.js';
import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { EVENT_TYPES, type EventRemoval } from '../../db/entities/events.js';
import {
  idempotencyKeys,
  type LedgerTransaction,
  ledgerTransactions,
  type ResourceType,
} from '../../db/entities/ledger.js';
import { describeExpected, describePosted, factsOf, postingFact, Totals } from '../totals.js';
import { type AuditRun, type Check, ROWS_PER_SLICE, scanTable } from '../scan.js';
import { SOURCE_OF, SOURCES } from '../sources.js';
import type { Expectation, OperationSource } from '../operation-source.js';
import { type AuditedEntry, checkEntries, readEntries } from './entries.js';
import { checkEvents, mayBeRemoved, readRemovals, readExcluded } from './events.js';
import { checkPairs } from './metadata.js';
import { checkFeeRefunds, checkRefunds } from './refunds.js';
import { checkSchedulesExist } from './schedules.js';
import { checkKeys, isRequestKey } from './references.js';
import { checkOperations } from './operations.js';

const TABLES = [...new Set(SOURCES.map(({ table }) => table.name))];

/**
 * Compares operations with the transactions, entries, events and keys that they require. No index
 * leads from an operation to these rows, so each table is scanned once, and only ranges whose
 * totals differ are compared exactly.
 */
export const crossChecks: Check = {
  tables: [...TABLES, 'ledger_transactions', 'entries', 'events', 'idempotency_keys'],
  run: async (audit) => {
    const now = Date.now();
    const totals = await audit.slice((reader) => Totals.read(reader, TABLES, now));
    const isExcluded = await audit.slice((reader) => readExcluded(reader, now));
    for (const source of SOURCES)
      await source.scan(audit, async (reader, operations) => {
        audit.countRows(source.table.name, operations.length);
        await checkOperations(audit, reader, source, operations);
        await checkPairs(audit, reader, source.resourceType, operations);
        await checkRefunds(audit, reader, source.resourceType, operations);
        await checkFeeRefunds(audit, reader, operations);
        await checkSchedulesExist(audit, reader, operations);
        for (const operation of operations) {
          const { money, events } = factsOf(source.resourceType, operation);
          const counted = isExcluded(operation.id, operation.tenantId) ? [] : events;
          for (const fact of [...money, ...counted]) totals.add(operation.id, fact, 1);
        }
      });
    await checkTransactions(audit, totals);
    await checkEntries(audit, totals);
    await checkEvents(audit, totals, isExcluded);
    await checkKeys(audit, totals);
    for (const range of totals.differing()) {
      if (CHECKS_OF_RANGES.some((check) => audit.hasEnoughOf(check))) return;
      audit.countRows('differing ranges', 1);
      await audit.slice((reader) => compareRange(audit, reader, range));
    }
  },
};

const CHECKS_OF_RANGES = [
  'operation_event',
  'operation_key',
  'operation_posting',
  'transaction_description',
  'transaction_legs',
] as const;

/** Checks that every ledger transaction belongs to an operation of its tenant. */
async function checkTransactions(audit: AuditRun, totals: Totals): Promise<void> {
  await scanTable(audit, ledgerTransactions, ROWS_PER_SLICE, async (reader, slice) => {
    audit.countRows('ledger_transactions', slice.length);
    for (const [type, own] of groupBy(slice, (transaction) => transaction.relatedType)) {
      const owners = await SOURCE_OF[type].owners(
        reader,
        own.map(({ relatedId }) => relatedId),
      );
      for (const { id, relatedId, tenantId, description } of own) {
        const owner = owners.get(relatedId);
        const operation = `${type} ${relatedId}`;
        audit.report(
          'transaction_resource',
          `ledger transaction ${id}`,
          owner === undefined && `there is no ${operation}`,
          owner !== undefined && owner !== tenantId && `${operation} is another tenant's`,
        );
        totals.add(relatedId, postingFact(type, description), -1);
      }
    }
  });
}

interface PostedTransaction {
  readonly transaction: LedgerTransaction;
  readonly legs: AuditedEntry[];
}

async function compareRange(
  audit: AuditRun,
  reader: Reader,
  range: (column: string) => string,
): Promise<void> {
  const posted = await readPosted(audit, reader, range);
  for (const one of posted) checkSums(audit, one);
  const byOperation = groupBy(posted, ({ transaction }) => transaction.relatedId);
  const events = await readEventTypes(audit, reader, range);
  const keyed = await readKeyed(audit, reader, range);
  const removals = await readRemovals(reader);
  const own = [range('id'), ...audit.tenantConditions('tenant_id')].join(' AND ');
  for (const source of SOURCES)
    for (const operation of await source.list(reader, ` WHERE ${own}`)) {
      const { id, tenantId, isKeyed } = operation;
      checkPosted(audit, source, operation, byOperation.get(id) ?? []);
      checkEventTypes(audit, source, operation, events.get(id) ?? [], removals.get(tenantId));
      audit.report(
        'operation_key',
        `${source.resourceType} ${id}`,
        isKeyed &&
          !keyed.has(id) &&
          'the key of its request is missing: a repeated request would execute it again',
      );
    }
}

async function readPosted(
  audit: AuditRun,
  reader: Reader,
  range: (column: string) => string,
): Promise<readonly PostedTransaction[]> {
  const own = [range('related_id'), ...audit.tenantConditions('tenant_id')].join(' AND ');
  const transactions = await reader.list(ledgerTransactions, `WHERE ${own}`);
  const posted = new Map<Uuid, PostedTransaction>(
    transactions.map((transaction) => [transaction.id, { transaction, legs: [] }]),
  );
  for (const entry of await readEntries(audit, reader, range('t.related_id')))
    posted.get(entry.transactionId)?.legs.push(entry);
  return [...posted.values()];
}

async function readEventTypes(
  audit: AuditRun,
  reader: Reader,
  range: (column: string) => string,
): Promise<ReadonlyMap<Uuid, readonly string[]>> {
  const own = [range('resource_id'), ...audit.tenantConditions('tenant_id')].join(' AND ');
  const rows = await reader.query(`SELECT resource_id, type FROM events WHERE ${own}`);
  const types = groupBy(rows, (row) => uuid.parse(row.resource_id));
  return new Map(Array.from(types, ([id, own]) => [id, own.map(({ type }) => string.parse(type))]));
}

async function readKeyed(
  audit: AuditRun,
  reader: Reader,
  range: (column: string) => string,
): Promise<ReadonlySet<Uuid>> {
  const own = [range('resource_id'), ...audit.tenantConditions('tenant_id')].join(' AND ');
  const keys = await reader.list(idempotencyKeys, `WHERE ${own}`);
  const ofRequests = keys.filter(({ idempotencyKey }) => isRequestKey(idempotencyKey));
  return new Set(ofRequests.flatMap(({ resourceId }) => resourceId ?? []));
}

function checkSums(audit: AuditRun, { transaction, legs }: PostedTransaction): void {
  const subject = `ledger transaction ${transaction.id}`;
  audit.report('transaction_entries', subject, legs.length === 0 && 'it has no entries');
  const sums = eachAsset(() => 0n);
  for (const { asset, raw } of legs) sums[asset] += raw;
  for (const [asset, sum] of Object.entries(sums))
    audit.report('transaction_sum', subject, sum !== 0n && `its entries in ${asset} sum to ${sum}`);
}

function checkPosted(
  audit: AuditRun,
  { resourceType }: OperationSource,
  { id, state, postings, description }: Expectation,
  posted: readonly PostedTransaction[],
): void {
  const own = posted.filter(({ transaction }) => transaction.relatedType === resourceType);
  const subject = `${resourceType} ${id}`;
  const required = `it is ${state}, so it has ${postings.length} ledger transaction(s)`;
  audit.report(
    'operation_posting',
    subject,
    own.length !== postings.length && `${required}, but ${own.length} are there`,
  );
  if (postings.length === 0) return;
  const signatures = postings.map((legs) => signature(resourceType, legs.map(describeExpected)));
  for (const { transaction, legs } of own) {
    const described = legs.map((leg) => describePosted(leg, transaction.tenantId));
    const found = signature(transaction.relatedType, described);
    const isOther = legs.length > 0 && !signatures.includes(found);
    audit.reportAll(`ledger transaction ${transaction.id}`, {
      // The description is text of the tenant, so findings do not quote it.
      transaction_description:
        transaction.description !== description && `its description is not that of ${subject}`,
      transaction_legs:
        isOther && `${subject} makes [${signatures.join('] or [')}], but it has [${found}]`,
    });
  }
}

function signature(type: ResourceType, legs: readonly string[]): string {
  return `${type}: ${[...legs].sort().join('; ')}`;
}

function checkEventTypes(
  audit: AuditRun,
  { resourceType }: OperationSource,
  { id, state, events }: Expectation,
  found: readonly string[],
  removal: EventRemoval | undefined,
): void {
  for (const type of EVENT_TYPES) {
    const required = events.filter((one) => one === type).length;
    const there = found.filter((one) => one === type).length;
    const isWrong = there > required || (there < required && !mayBeRemoved(id, removal));
    audit.report(
      'operation_event',
      `${resourceType} ${id}`,
      isWrong && `it is ${state}, but has ${there} event(s) ${type}, not ${required}`,
    );
  }
}

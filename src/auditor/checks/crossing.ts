import { eachAsset } from '../../core/amount.js';
import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { bigint, string, uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { EVENT_TYPES, type EventRemoval } from '../../db/entities/events.js';
import {
  type LedgerTransaction,
  ledgerTransactions,
  type ResourceType,
} from '../../db/entities/ledger.js';
import { rowParser } from '../../db/table.js';
import { describeExpected, describePosted, factsOf } from '../facts.js';
import type { AuditRun, Check } from '../run.js';
import { SOURCES } from '../sources/index.js';
import type { Expectation, OperationSource } from '../sources/types.js';
import { bucketOf } from '../tally.js';
import { afterKey, ROWS_A_SLICE, walk, walkTable, whereAll } from '../walk.js';
import { type AuditedEntry, walkEntries } from './entries.js';
import { mayBeRemoved, readRemovals } from './events.js';
import { collectKeyed } from './references.js';

/** In memory at a time: of a million buckets, at first as many as hold these where there are ten million in all. */
const OPERATIONS_AT_ONCE = 40_000;
const FIRST_BUCKETS = 4_000;
const EVENTS_A_SLICE = 10_000;

interface Suspect {
  readonly source: OperationSource;
  readonly operation: Expectation;
}

interface Posted {
  readonly transaction: LedgerTransaction;
  readonly legs: AuditedEntry[];
}

interface Collected {
  readonly operations: ReadonlyMap<Uuid, Suspect>;
  readonly posted: readonly Posted[];
  readonly events: ReadonlyMap<Uuid, readonly string[]>;
  /** Those that have the key of their request. */
  readonly keyed: ReadonlySet<Uuid>;
}

/**
 * Compares what operations call for with the ledger transactions, entries, events and keys that exist. No index leads
 * from an operation to these: the earlier walks have entered both sides in a tally, and where it says that they differ, the
 * same walks collect these operations again and compare them. Operations that change meanwhile are left to the next
 * run, since their other side may not have been seen yet.
 */
export const crossingChecks: Check = {
  tables: [],
  // What it collects is in memory.
  run: (audit) =>
    audit.atOnce(async () => {
      let [from, most] = [0, FIRST_BUCKETS];
      while (!REPORTED.some((check) => audit.hasEnoughOf(check))) {
        const buckets = audit.tally.differing(from, most);
        const last = [...buckets].at(-1);
        if (last === undefined) return;
        const operations = await checkBuckets(audit, buckets);
        from = last + 1;
        // Each round walks through everything: the fuller it is, the fewer there are.
        most = Math.max(
          FIRST_BUCKETS,
          Math.trunc((buckets.size * OPERATIONS_AT_ONCE) / Math.max(operations, 1)),
        );
      }
    }),
};

const REPORTED = [
  'operation_event',
  'operation_key',
  'operation_posting',
  'transaction_description',
  'transaction_legs',
] as const;

/**
 * Operations first: whatever they call for by then is already written, so the later walks find it. Returns how many
 * there are in these buckets.
 */
async function checkBuckets(audit: AuditRun, buckets: ReadonlySet<number>): Promise<number> {
  const isWanted = (operationId: Uuid): boolean =>
    audit.isInTime(operationId) && buckets.has(bucketOf(operationId));
  const operations = new Map<Uuid, Suspect>();
  for (const source of SOURCES)
    await source.walk(audit, ROWS_A_SLICE, (_, all) => {
      for (const operation of all)
        if (isWanted(operation.id)) operations.set(operation.id, { source, operation });
    });
  const posted = await collectPosted(audit, isWanted);
  const events = await collectEvents(audit, isWanted);
  const keyed = await collectKeyed(audit, isWanted);
  const collected: Collected = { operations, posted, events, keyed };
  for (const one of posted) checkSums(audit, one);
  const differing = await unchanged(audit, differingOf(collected));
  const removals = await audit.slice((reader) => readRemovals(reader));
  const byOperation = groupBy(posted, ({ transaction }) => transaction.relatedId);
  for (const suspect of differing) {
    const { id, tenantId } = suspect.operation;
    checkPosted(audit, suspect, byOperation.get(id) ?? []);
    checkEvents(audit, suspect, events.get(id) ?? [], removals.get(tenantId));
    if (lacksKey(suspect.operation, keyed))
      audit.report(
        'operation_key',
        `${suspect.source.resourceType} ${id}`,
        'the key of its request is missing: repeated, it would happen twice',
      );
  }
  return operations.size;
}

async function collectPosted(
  audit: AuditRun,
  isWanted: (id: Uuid) => boolean,
): Promise<readonly Posted[]> {
  const posted = new Map<Uuid, Posted>();
  await walkTable(audit, ledgerTransactions, ROWS_A_SLICE, (_, slice) => {
    for (const transaction of slice)
      if (isWanted(transaction.relatedId)) posted.set(transaction.id, { transaction, legs: [] });
  });
  await walkEntries(audit, (_, entries) => {
    for (const entry of entries) posted.get(entry.transactionId)?.legs.push(entry);
  });
  return [...posted.values()];
}

const parseLogged = rowParser({ tenantId: uuid, sequence: bigint, resourceId: uuid, type: string });
type LoggedEvent = ReturnType<typeof parseLogged>;

async function collectEvents(
  audit: AuditRun,
  isWanted: (id: Uuid) => boolean,
): Promise<ReadonlyMap<Uuid, readonly string[]>> {
  const found: LoggedEvent[] = [];
  await walk(
    audit,
    EVENTS_A_SLICE,
    (reader, after: LoggedEvent | undefined) => readLogged(reader, audit, after),
    (_, slice) => void found.push(...slice.filter(({ resourceId }) => isWanted(resourceId))),
  );
  const byOperation = groupBy(found, ({ resourceId }) => resourceId);
  return new Map(Array.from(byOperation, ([id, events]) => [id, events.map(({ type }) => type)]));
}

async function readLogged(
  reader: Reader,
  audit: AuditRun,
  after: LoggedEvent | undefined,
): Promise<LoggedEvent[]> {
  const conditions = audit.own('tenant_id');
  if (after !== undefined) {
    const at = { first: uuid.literal(after.tenantId), second: after.sequence.toString() };
    conditions.push(afterKey('tenant_id', 'sequence', at));
  }
  const rows = await reader.query(
    `SELECT tenant_id, sequence, resource_id, type FROM events FORCE INDEX (PRIMARY)${whereAll(conditions)}
     ORDER BY tenant_id, sequence LIMIT ${EVENTS_A_SLICE}`,
  );
  return rows.map(parseLogged);
}

/** Those for which the collected rows are not exactly what they call for. */
function differingOf({ operations, posted, events, keyed }: Collected): readonly Suspect[] {
  const byOperation = groupBy(posted, ({ transaction }) => transaction.relatedId);
  return [...operations.values()].filter(({ source, operation }) => {
    const found = byOperation.get(operation.id) ?? [];
    const wanted = operation.postings.map((legs) =>
      signature(source.resourceType, legs.map(describeExpected)),
    );
    const told = events.get(operation.id) ?? [];
    return (
      !isSame(found.map(signatureOf), wanted) ||
      found.some((one) => !isDescribed(one, operation)) ||
      !isSame(told, operation.events) ||
      lacksKey(operation, keyed)
    );
  });
}

function isDescribed({ transaction }: Posted, { description }: Expectation): boolean {
  return transaction.description === description;
}

function lacksKey({ id, isKeyed }: Expectation, keyed: Collected['keyed']): boolean {
  return isKeyed && !keyed.has(id);
}

function isSame(found: readonly string[], wanted: readonly string[]): boolean {
  return [...found].sort().join('|') === [...wanted].sort().join('|');
}

/** Those that still call for the same as when they were read. */
async function unchanged(
  audit: AuditRun,
  suspects: readonly Suspect[],
): Promise<readonly Suspect[]> {
  const kept: Suspect[] = [];
  for (const [source, own] of groupBy(suspects, (suspect) => suspect.source)) {
    const ids = own.map(({ operation }) => operation.id);
    const now = await audit.slice((reader) => source.expectations(reader, ids));
    const factsNow = (id: Uuid): string | undefined => {
      const operation = now.get(id);
      return operation === undefined
        ? undefined
        : JSON.stringify(factsOf(source.resourceType, operation));
    };
    kept.push(
      ...own.filter(
        ({ operation }) =>
          factsNow(operation.id) === JSON.stringify(factsOf(source.resourceType, operation)),
      ),
    );
  }
  return kept;
}

function checkSums(audit: AuditRun, { transaction, legs }: Posted): void {
  const subject = `ledger transaction ${transaction.id}`;
  if (legs.length === 0) audit.report('transaction_entries', subject, 'it has no entries');
  const sums = eachAsset(() => 0n);
  for (const { asset, raw } of legs) sums[asset] += raw;
  for (const [asset, sum] of Object.entries(sums))
    if (sum !== 0n)
      audit.report('transaction_sum', subject, `its entries in ${asset} sum to ${sum}`);
}

function checkPosted(
  audit: AuditRun,
  { source, operation }: Suspect,
  posted: readonly Posted[],
): void {
  const { resourceType } = source;
  const own = posted.filter(({ transaction }) => transaction.relatedType === resourceType);
  const subject = `${resourceType} ${operation.id}`;
  if (own.length !== operation.postings.length)
    audit.report(
      'operation_posting',
      subject,
      `it is ${operation.state}, so it has ${operation.postings.length} ledger transaction(s), but ${own.length} are there`,
    );
  if (operation.postings.length === 0) return;
  const wanted = operation.postings.map((legs) =>
    signature(resourceType, legs.map(describeExpected)),
  );
  for (const one of own) {
    const found = signatureOf(one);
    // What it says is the tenant's, and in no finding.
    if (!isDescribed(one, operation))
      audit.report(
        'transaction_description',
        `ledger transaction ${one.transaction.id}`,
        `its description is not that of ${subject}`,
      );
    if (one.legs.length > 0 && !wanted.includes(found))
      audit.report(
        'transaction_legs',
        `ledger transaction ${one.transaction.id}`,
        `${subject} makes [${wanted.join('] or [')}], but it has [${found}]`,
      );
  }
}

function signatureOf({ transaction, legs }: Posted): string {
  const { relatedType, tenantId } = transaction;
  const described = legs.map((leg) => describePosted(leg, tenantId));
  return signature(relatedType, described);
}

function signature(type: ResourceType, legs: readonly string[]): string {
  return `${type}: ${[...legs].sort().join('; ')}`;
}

function checkEvents(
  audit: AuditRun,
  { source, operation }: Suspect,
  found: readonly string[],
  removal: EventRemoval | undefined,
): void {
  const { id, state } = operation;
  for (const type of EVENT_TYPES) {
    const wanted = operation.events.filter((one) => one === type).length;
    const there = found.filter((one) => one === type).length;
    if (there > wanted || (there < wanted && !mayBeRemoved(id, removal)))
      audit.report(
        'operation_event',
        `${source.resourceType} ${id}`,
        `it is ${state}, but has ${there} event(s) ${type}, not ${wanted}`,
      );
  }
}

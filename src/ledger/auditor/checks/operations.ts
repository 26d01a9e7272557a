import { groupBy } from '../../../core/collections.js';
import { timeOfId, type Uuid } from '../../../core/ids.js';
import type { Instant } from '../../../core/instant.js';
import { bigint, oneOf, string, uuid } from '../../../db/columns.js';
import type { Reader } from '../../../db/database.js';
import { type Approval, approvals } from '../../../db/entities/approvals.js';
import { EVENT_TYPES } from '../../../db/entities/events.js';
import { type Hold, holds, RESOURCE_TYPES } from '../../../db/entities/ledger.js';
import { accounts } from '../../../db/entities/parties.js';
import type { AuditRun, Check } from '../run.js';
import { SOURCES, sourceOf } from '../sources/index.js';
import type { Expectation, OperationSource } from '../sources/types.js';
import { readRemovals } from './events.js';
import { byId, idList, ROWS_A_SLICE, walk, whereAll } from '../walk.js';

/** Every operation: its accounts, ledger transactions, hold and events are exactly those that its state asks for. */
export const operationChecks: Check = {
  tables: SOURCES.map((source) => source.tableName),
  run: async (audit) => {
    for (const source of SOURCES)
      await source.walk(audit, ROWS_A_SLICE, async (reader, operations) => {
        audit.counted(source.tableName, operations.length);
        const facts = await readFacts(reader, source, operations);
        for (const operation of operations) checkOperation(audit, source, operation, facts);
      });
  },
};

interface Facts {
  readonly accounts: ReadonlyMap<Uuid, unknown>;
  readonly postings: ReadonlyMap<Uuid, bigint>;
  readonly events: ReadonlyMap<Uuid, readonly string[]>;
  readonly holds: ReadonlyMap<Uuid, Hold>;
  readonly approvals: ReadonlyMap<Uuid, readonly Approval[]>;
  /** By tenant: until when retention has removed events. */
  readonly removedUntil: ReadonlyMap<Uuid, Instant>;
}

async function readFacts(
  reader: Reader,
  { resourceType }: OperationSource,
  operations: readonly Expectation[],
): Promise<Facts> {
  const ids = operations.map((operation) => operation.id);
  const list = idList(ids) ?? 'NULL';
  const [known, posted, events, held, approved, removals] = await Promise.all([
    byId(
      reader,
      accounts,
      operations.flatMap((operation) => operation.accounts),
    ),
    reader.query(
      `SELECT related_id, CAST(COUNT(*) AS CHAR) AS postings FROM ledger_transactions
       WHERE related_id IN (${list}) AND related_type=${oneOf(RESOURCE_TYPES).literal(resourceType)} GROUP BY related_id`,
    ),
    reader.query(`SELECT resource_id, type FROM events WHERE resource_id IN (${list})`),
    reader.select(holds, { resourceId: ids }),
    reader.select(approvals, { resourceId: ids }),
    readRemovals(
      reader,
      operations.map((operation) => operation.tenantId),
    ),
  ]);
  const types = groupBy(events, (row) => uuid.parse(row.resource_id));
  return {
    accounts: known,
    postings: new Map(posted.map((row) => [uuid.parse(row.related_id), bigint.parse(row.postings)])),
    events: new Map(Array.from(types, ([id, rows]) => [id, rows.map((row) => string.parse(row.type))])),
    holds: new Map(held.map((hold) => [hold.resourceId, hold])),
    approvals: groupBy(approved, (approval) => approval.resourceId),
    removedUntil: new Map(Array.from(removals, ([tenantId, removal]) => [tenantId, removal.removedUntil])),
  };
}

function checkOperation(audit: AuditRun, source: OperationSource, operation: Expectation, facts: Facts): void {
  const { id, state } = operation;
  const subject = `${source.resourceType} ${id}`;
  for (const accountId of operation.accounts)
    if (!facts.accounts.has(accountId))
      audit.report('operation_account', subject, `it names account ${accountId}, which does not exist`);
  const postings = facts.postings.get(id) ?? 0n;
  if (postings !== BigInt(operation.postings.length))
    audit.report(
      'operation_posting',
      subject,
      `it is ${state}, so it has ${operation.postings.length} ledger transaction(s), but ${postings} are there`,
    );
  checkEvents(audit, subject, operation, facts);
  checkHold(audit, subject, operation, facts.holds.get(id));
  checkApproval(audit, subject, operation, facts.approvals.get(id) ?? []);
}

function checkApproval(
  audit: AuditRun,
  subject: string,
  { approval, state }: Expectation,
  found: readonly Approval[],
): void {
  const counted = approval?.received ?? 0;
  if (found.length !== counted)
    audit.report('operation_approval', subject, `${counted} approval(s) are counted, but ${found.length} are there`);
  if (approval === null) return;
  const { received, required, isApproved, isWaiting, createdBy } = approval;
  // With the last approval it goes on, or ends: it never waits with all of them.
  if (received > required || (isApproved && received < required) || (isWaiting && received >= required))
    audit.report('operation_approval', subject, `it is ${state} with ${received} of ${required} approval(s)`);
  if (found.some(({ memberId }) => memberId === createdBy))
    audit.report('operation_approval', subject, 'it was approved by whoever created it');
}

function checkEvents(audit: AuditRun, subject: string, operation: Expectation, facts: Facts): void {
  const found = facts.events.get(operation.id) ?? [];
  // An event is never older than its operation, whose id begins with its time: of a younger one nothing can be removed.
  const removedUntil = facts.removedUntil.get(operation.tenantId);
  const mayBeRemoved = removedUntil !== undefined && timeOfId(operation.id) <= removedUntil;
  for (const type of EVENT_TYPES) {
    const wanted = operation.events.filter((one) => one === type).length;
    const there = found.filter((one) => one === type).length;
    if (there > wanted || (there < wanted && !mayBeRemoved))
      audit.report(
        'operation_event',
        subject,
        `it is ${operation.state}, but has ${there} event(s) ${type}, not ${wanted}`,
      );
  }
}

function checkHold(audit: AuditRun, subject: string, { hold, state }: Expectation, found: Hold | undefined): void {
  const remaining = found?.remaining ?? 0n;
  const wanted = hold?.remaining ?? 0n;
  if (remaining !== wanted)
    audit.report('operation_hold', subject, `it is ${state}, so ${wanted} are held, but its hold has ${remaining}`);
  else if (hold !== null && (found?.accountId !== hold.accountId || found.asset !== hold.asset))
    audit.report('operation_hold', subject, 'its hold is on another account or asset');
}

/** Every hold is of an operation that exists; whether it is the right one is told above. */
export const holdChecks: Check = {
  tables: ['holds'],
  run: (audit) =>
    walk(
      audit,
      ROWS_A_SLICE,
      async (reader, after: Hold | undefined) => {
        const conditions = [
          ...(after === undefined ? [] : [`resource_id>${uuid.literal(after.resourceId)}`]),
          ...(audit.tenantId === undefined
            ? []
            : [`account_id IN (SELECT id FROM accounts WHERE tenant_id=${uuid.literal(audit.tenantId)})`]),
        ];
        const rows = await reader.query(
          `SELECT resource_id FROM holds FORCE INDEX (PRIMARY)${whereAll(conditions)} ORDER BY resource_id LIMIT ${ROWS_A_SLICE}`,
        );
        return reader.select(
          holds,
          { resourceId: rows.map((row) => uuid.parse(row.resource_id)) },
          { orderBy: ['resourceId'] },
        );
      },
      async (reader, slice) => {
        audit.counted('holds', slice.length);
        for (const [type, own] of groupBy(slice, (hold) => hold.resourceType)) {
          const known = await sourceOf(type)?.expectations(
            reader,
            own.map((hold) => hold.resourceId),
          );
          for (const { resourceId } of own)
            if (known?.has(resourceId) !== true)
              audit.report('hold_resource', `hold ${resourceId}`, `there is no such ${type}`);
        }
      },
    ),
};

import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type Approval, approvals } from '../../db/entities/approvals.js';
import type { EventRemoval } from '../../db/entities/events.js';
import { type Hold, holds } from '../../db/entities/ledger.js';
import { accounts } from '../../db/entities/parties.js';
import { factsOf } from '../facts.js';
import type { AuditRun, Check } from '../run.js';
import { SOURCES, sourceOf } from '../sources/index.js';
import type { Expectation, OperationSource } from '../sources/types.js';
import { ownersById, ROWS_A_SLICE, walk, whereAll } from '../walk.js';
import { mayBeRemoved, readRemovals } from './events.js';

/**
 * Every operation has exactly the accounts, hold and approvals that its state calls for. Its ledger transactions and
 * events are compared after those have been walked (crossing.ts).
 */
export const operationChecks: Check = {
  tables: SOURCES.map((source) => source.tableName),
  run: async (audit) => {
    const removals = await audit.slice((reader) => readRemovals(reader));
    for (const source of SOURCES)
      await source.walk(audit, ROWS_A_SLICE, async (reader, operations) => {
        audit.counted(source.tableName, operations.length);
        const facts = await readFacts(reader, operations);
        for (const operation of operations) {
          checkOperation(audit, source, operation, facts);
          tally(audit, source, operation, removals);
        }
      });
  },
};

interface Facts {
  readonly accounts: ReadonlyMap<Uuid, unknown>;
  readonly holds: ReadonlyMap<Uuid, Hold>;
  readonly approvals: ReadonlyMap<Uuid, readonly Approval[]>;
}

async function readFacts(reader: Reader, operations: readonly Expectation[]): Promise<Facts> {
  const ids = operations.map((operation) => operation.id);
  const accountIds = operations.flatMap((operation) => operation.accounts);
  const [known, held, approved] = await Promise.all([
    ownersById(reader, accounts, accountIds),
    reader.select(holds, { resourceId: ids }),
    reader.select(approvals, { resourceId: ids }),
  ]);
  return {
    accounts: known,
    holds: new Map(held.map((hold) => [hold.resourceId, hold])),
    approvals: groupBy(approved, (approval) => approval.resourceId),
  };
}

function tally(
  audit: AuditRun,
  { resourceType }: OperationSource,
  operation: Expectation,
  removals: ReadonlyMap<Uuid, EventRemoval>,
): void {
  if (!audit.isInTime(operation.id)) return;
  const { money, events } = factsOf(resourceType, operation);
  const told = mayBeRemoved(operation.id, removals.get(operation.tenantId)) ? [] : events;
  for (const fact of [...money, ...told]) audit.tally.add(operation.id, fact, 1);
}

function checkOperation(audit: AuditRun, source: OperationSource, operation: Expectation, facts: Facts): void {
  const { id } = operation;
  const subject = `${source.resourceType} ${id}`;
  for (const accountId of operation.accounts)
    if (!facts.accounts.has(accountId))
      audit.report('operation_account', subject, `it names account ${accountId}, which does not exist`);
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
  // The last approval makes it proceed or end: it never waits with all of them.
  if (received > required || (isApproved && received < required) || (isWaiting && received >= required))
    audit.report('operation_approval', subject, `it is ${state} with ${received} of ${required} approval(s)`);
  if (found.some(({ memberId }) => memberId === createdBy))
    audit.report('operation_approval', subject, 'it was approved by whoever created it');
}

function checkHold(audit: AuditRun, subject: string, { hold, state }: Expectation, found: Hold | undefined): void {
  const remaining = found?.remaining ?? 0n;
  const wanted = hold?.remaining ?? 0n;
  if (remaining !== wanted)
    audit.report('operation_hold', subject, `it is ${state}, so ${wanted} are held, but its hold has ${remaining}`);
  else if (hold !== null && (found?.accountId !== hold.accountId || found.asset !== hold.asset))
    audit.report('operation_hold', subject, 'its hold is on another account or asset');
  else if ((found?.expiresAt ?? null) !== (hold?.expiresAt ?? null))
    audit.report('operation_hold', subject, 'its hold expires at another time');
}

/** Every hold belongs to an operation that exists. Whether it is the right one is checked above. */
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
        const resourceId = rows.map((row) => uuid.parse(row.resource_id));
        return reader.select(holds, { resourceId }, { orderBy: ['resourceId'] });
      },
      async (reader, slice) => {
        audit.counted('holds', slice.length);
        for (const [type, own] of groupBy(slice, (hold) => hold.resourceType)) {
          const ids = own.map((hold) => hold.resourceId);
          const known = await sourceOf(type)?.owners(reader, ids);
          for (const { resourceId } of own)
            if (known?.has(resourceId) !== true)
              audit.report('hold_resource', `hold ${resourceId}`, `there is no such ${type}`);
        }
      },
    ),
};

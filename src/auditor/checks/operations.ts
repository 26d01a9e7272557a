import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { uuid } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type Approval, approvals } from '../../db/entities/approvals.js';
import { type Hold, holds } from '../../db/entities/ledger.js';
import { accounts } from '../../db/entities/parties.js';
import { factsOf } from '../facts.js';
import type { AuditRun, Check } from '../run.js';
import { SOURCES, sourceOf } from '../sources/index.js';
import type { Expectation, OperationSource } from '../sources/types.js';
import { ownersById, ROWS_A_SLICE, walk, whereAll } from '../walk.js';
import { readRemovals, readUntallied } from './events.js';

/**
 * Every operation has exactly the accounts, fee, hold, approvals and people that its state calls for. Its ledger
 * transactions, events and key are compared after those have been walked (crossing.ts).
 */
export const operationChecks: Check = {
  tables: SOURCES.map((source) => source.tableName),
  run: async (audit) => {
    const removals = await audit.slice((reader) => readRemovals(reader));
    const isUntallied = await audit.slice((reader) => readUntallied(audit, reader));
    for (const source of SOURCES)
      await source.walk(audit, ROWS_A_SLICE, async (reader, operations) => {
        audit.counted(source.tableName, operations.length);
        const facts = await readFacts(reader, operations);
        for (const operation of operations) {
          checkOperation(audit, source, operation, facts);
          tally(
            audit,
            source,
            operation,
            isUntallied(operation.id, removals.get(operation.tenantId)),
          );
        }
      });
  },
};

/** The name under which an approval by the staff counts. */
const SUPPORT = 'support';

interface Facts {
  readonly owners: ReadonlyMap<Uuid, Uuid>;
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
    owners: known,
    holds: new Map(held.map((hold) => [hold.resourceId, hold])),
    approvals: groupBy(approved, (approval) => approval.resourceId),
  };
}

function tally(
  audit: AuditRun,
  { resourceType }: OperationSource,
  operation: Expectation,
  isUntallied: boolean,
): void {
  if (!audit.isInTime(operation.id)) return;
  const { money, events } = factsOf(resourceType, operation);
  const told = isUntallied ? [] : events;
  for (const fact of [...money, ...told]) audit.tally.add(operation.id, fact, 1);
}

function checkOperation(
  audit: AuditRun,
  source: OperationSource,
  operation: Expectation,
  facts: Facts,
): void {
  const { id, fee, people } = operation;
  const subject = `${source.resourceType} ${id}`;
  checkAccounts(audit, subject, operation, facts.owners);
  if ((fee.raw === 0n) !== (fee.accountId === null))
    audit.report(
      'operation_fee',
      subject,
      `its fee is ${fee.raw}, for ${fee.accountId ?? 'no account'}`,
    );
  if (people !== null && people.decided !== null && people.decided === people.proposed)
    audit.report('operation_people', subject, 'one person proposed and decided it');
  checkHold(audit, subject, operation, facts.holds.get(id));
  checkApproval(audit, subject, operation, facts.approvals.get(id) ?? []);
}

function checkAccounts(
  audit: AuditRun,
  subject: string,
  { accounts: named, owned, tenantId }: Expectation,
  owners: Facts['owners'],
): void {
  for (const accountId of named) {
    const owner = owners.get(accountId);
    if (owner === undefined)
      audit.report(
        'operation_account',
        subject,
        `it names account ${accountId}, which does not exist`,
      );
    else if (owner !== tenantId && owned.includes(accountId))
      audit.report(
        'operation_account',
        subject,
        `it names account ${accountId}, which is another tenant's`,
      );
  }
}

function checkApproval(
  audit: AuditRun,
  subject: string,
  { approval, state }: Expectation,
  found: readonly Approval[],
): void {
  const counted = approval?.received ?? 0;
  if (found.length !== counted)
    audit.report(
      'operation_approval',
      subject,
      `${counted} approval(s) are counted, but ${found.length} are there`,
    );
  if (approval === null) return;
  const { received, required, isApproved, isWaiting, createdBy } = approval;
  // The last approval makes it proceed or end: it never waits with all of them.
  if (
    received > required ||
    (isApproved && received < required) ||
    (isWaiting && received >= required)
  )
    audit.report(
      'operation_approval',
      subject,
      `it is ${state} with ${received} of ${required} approval(s)`,
    );
  if (found.some(({ memberId }) => memberId === createdBy))
    audit.report('operation_approval', subject, 'it was approved by whoever created it');
  // The name under which an approval counts keeps one person from giving two.
  if (
    found.some(
      ({ memberId, approver }) => approver !== (memberId === null ? SUPPORT : `member:${memberId}`),
    )
  )
    audit.report('operation_approval', subject, 'an approval counts as given by somebody else');
}

function checkHold(
  audit: AuditRun,
  subject: string,
  { hold, state }: Expectation,
  found: Hold | undefined,
): void {
  const remaining = found?.remaining ?? 0n;
  const wanted = hold?.remaining ?? 0n;
  if (remaining !== wanted)
    audit.report(
      'operation_hold',
      subject,
      `it is ${state}, so ${wanted} are held, but its hold has ${remaining}`,
    );
  else if (hold !== null && found !== undefined && !isHoldOf(found, hold))
    audit.report('operation_hold', subject, 'its hold is of another account, asset or amount');
  else if ((found?.expiresAt ?? null) !== (hold?.expiresAt ?? null))
    audit.report('operation_hold', subject, 'its hold expires at another time');
}

function isHoldOf(found: Hold, hold: NonNullable<Expectation['hold']>): boolean {
  return found.accountId === hold.accountId && found.asset === hold.asset && found.raw === hold.raw;
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
          ...audit
            .own('tenant_id')
            .map((own) => `account_id IN (SELECT id FROM accounts WHERE ${own})`),
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

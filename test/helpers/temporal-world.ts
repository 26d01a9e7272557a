import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type AuditRow, auditLog } from '../../src/db/entities/identity.js';
import { addMember } from '../../src/members/members.js';
import { deactivateStaff } from '../../src/staff/people.js';
import { setPolicy } from '../../src/approvals/policies.js';
import { groupBy } from '../../src/core/collections.js';
import { asUuid, newId, type Uuid } from '../../src/core/ids.js';
import { instant, systemClock } from '../../src/core/instant.js';
import { uuid } from '../../src/db/columns.js';
import type { Database } from '../../src/db/database.js';
import { updateSql } from '../../src/db/statements.js';
import { type Staff, STAFF_RIGHTS, type StaffRight } from '../../src/db/entities/staff.js';
import { holds, monthTotals } from '../../src/db/entities/ledger.js';
import { outbox, type OutboxRow } from '../../src/db/entities/outbox.js';
import { type Transfer, transfers } from '../../src/db/entities/operations.js';
import type { Account, Tenant } from '../../src/db/entities/parties.js';
import { outboxEntry } from '../../src/temporal/outbox.js';
import type { TestAnswer, TestApi } from './api.js';
import {
  answered,
  type Bank,
  idLiteral,
  LEAST,
  openBank,
  text,
  type WantedTransfer,
} from './bank.js';
import type { TestDatabase } from './database.js';
import { type TestTemporal, workflowOf } from './temporal.js';
import { NOBODY, openWriter, TEST_ACTOR } from './world.js';
import { addStaff, codeOf } from './staff.js';
import { Approvals } from '../../src/approvals/service.js';
import { type TransferApprovals, transferApproval } from '../../src/transfers/approval-outcomes.js';

/** A tenant whose transfers wait for approval, and everybody who may end them. */

interface WantedGuard {
  readonly approvals?: number;
  readonly expiresInS?: number;
  readonly funds?: bigint;
  readonly tenant?: Partial<Tenant>;
}

/** A transfer's end, by whom it may come through the API. */
export type MemberAct = 'approve' | 'reject' | 'cancel';

export interface GuardedBank {
  readonly bank: Bank;
  readonly source: Account;
  readonly target: Account;
  /** Tokens of two members who may approve. */
  readonly approvers: readonly [string, string];
  /** A transfer that waits; `raw` is at least LEAST. */
  createPending(raw?: bigint, more?: Partial<WantedTransfer>): Promise<Uuid>;
  /** Several at once. */
  createManyPending(count: number): Promise<Uuid[]>;
  /** Acts by the API: the first approver approves and rejects, the creator cancels, by default. */
  act(action: MemberAct, transferId: string, token?: string): Promise<TestAnswer>;
}

/** Opens a bank whose source account is guarded from the least amount on: by default one approval, a week. */
export async function openGuardedBank(
  api: TestApi,
  wanted: WantedGuard = {},
): Promise<GuardedBank> {
  const { database } = api.core;
  const bank = await openBank(api, wanted.tenant);
  const { id: tenantId } = bank.tenant.tenant;
  const approving = [
    await addMember(database, systemClock, tenantId, 'first approver', TEST_ACTOR),
    await addMember(database, systemClock, tenantId, 'second approver', TEST_ACTOR),
  ] as const;
  const source = await bank.account({
    funds: { COPM: wanted.funds ?? 1_000n * LEAST },
    roles: approving.map(({ id }) => ({ memberId: id, role: 'approver' as const })),
  });
  const target = await bank.account({ isVerified: false });
  const { approvals = 1, expiresInS = 604_800 } = wanted;
  const settings = { threshold: LEAST, approvals, expiresInS, refusesBatches: false };
  const policy = { accountId: source.id, asset: 'COPM' as const, ...settings };
  await setPolicy(database, systemClock, policy, TEST_ACTOR);
  const approvers = [await bank.issue(approving[0]), await bank.issue(approving[1])] as const;
  const createPending: GuardedBank['createPending'] = async (raw = LEAST, more = {}) =>
    asUuid(
      text(answered(await bank.send({ from: source, to: target, raw, ...more }), 202).json.id),
    );
  return {
    bank,
    source,
    target,
    approvers,
    createPending,
    createManyPending: (count) => Promise.all(Array.from({ length: count }, () => createPending())),
    act: (action, transferId, token = action === 'cancel' ? bank.token : approvers[0]) =>
      bank.request('POST', `/v1/transfers/${transferId}/${action}`, {
        token,
        ...(action === 'reject' ? { body: { reason: 'not what was ordered' } } : {}),
      }),
  };
}

/** An active member of the support staff with these rights and a new name. */
export function hire(
  database: Database,
  rights: readonly StaffRight[] = STAFF_RIGHTS,
): Promise<Staff> {
  return addStaff(database, { name: `Ana ${randomUUID().slice(0, 8)}`, rights }, TEST_ACTOR);
}

export async function dismiss(database: Database, person: Staff): Promise<void> {
  assert(await deactivateStaff(database, systemClock, person, TEST_ACTOR));
}

/** The fields that a member of the staff writes into a signal. */
export interface Signature {
  readonly actor: string;
  readonly reason: string;
  readonly code: string;
}

/** With the code of this moment, which counts once. */
export function signatureOf(person: Staff, reason = REASON): Signature {
  return { actor: person.name, reason, code: codeOf(person) };
}

/** A proof of a new person each time, so that no test waits for the next code. */
export async function newSignature(
  database: Database,
  rights?: readonly StaffRight[],
): Promise<Signature> {
  return signatureOf(await hire(database, rights));
}

/** Sends a signal, as the UI and the `temporal` command line do. */
export function sendSignal(
  temporal: TestTemporal,
  transferId: string,
  action: MemberAct,
  ...input: readonly unknown[]
): Promise<void> {
  return workflowOf(temporal, transferId).signal<unknown[]>(action, ...input);
}

export const REASON = 'the customer asked by telephone';

/** Decides as the staff, the workflow and the sweeper do. No workflow is notified. */
export function approvalsOf({ database }: TestDatabase): TransferApprovals {
  const { writer } = openWriter(database);
  const deps = { writer, database, clock: systemClock, notifier: NOBODY };
  return new Approvals(transferApproval, deps);
}

/** Lets time pass. */
export function moveExpiry(
  { database }: Pick<TestDatabase, 'database'>,
  id: Uuid,
  at: number,
): Promise<void> {
  return database.withTransaction(async (transaction) => {
    const pending = { id, status: 'pending_approval' } as const;
    await transaction.execute(updateSql(transfers, { approvalExpiresAt: instant(at) }, pending));
    await transaction.execute(
      `${updateSql(holds, { expiresAt: instant(at) }, { resourceId: id })} AND expires_at IS NOT NULL`,
    );
  });
}

export async function readTransfer(
  { database }: Pick<TestDatabase, 'database'>,
  id: Uuid,
): Promise<Transfer> {
  const transfer = await database.reader.find(transfers, { id });
  assert(transfer !== undefined, `there is no transfer ${id}`);
  return transfer;
}

/** The audit log of one transfer, oldest first. */
export async function actsOn(db: TestDatabase, transferId: string): Promise<readonly AuditRow[]> {
  return db.database.reader.select(auditLog, { subjectId: transferId }, { orderBy: ['id'] });
}

/** The types of its events, in their order. */
export async function eventsOf(db: TestDatabase, transferId: string): Promise<string[]> {
  return (await eventsOfEach(db, [transferId])).get(transferId) ?? [];
}

/** No index leads from a transfer to its events: those of many are found in one reading of the log. */
async function eventsOfEach(
  db: TestDatabase,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const rows = await db.sql(
    `SELECT resource_id, type FROM events WHERE resource_id IN (${ids.map(idLiteral).join(',')}) ORDER BY sequence`,
  );
  const own = groupBy(rows, (row): string => uuid.parse(row.resource_id));
  return new Map(Array.from(own, ([id, told]) => [id, told.map(({ type }) => String(type))]));
}

/** The entries of the outbox for the resource. */
export async function outboxOf(db: TestDatabase, transferId: Uuid): Promise<readonly OutboxRow[]> {
  return db.database.reader.select(outbox, { resourceId: transferId });
}

/** An entry for it as if another process had written it: due at once unless said. */
export function outboxRow(
  { tenantId, id }: Pick<Transfer, 'tenantId' | 'id'>,
  dueInMs = 0,
): OutboxRow {
  const now = Date.now();
  const about = { tenantId, resourceType: 'transfer', resourceId: id } as const;
  return {
    ...outboxEntry({ ...about, outboxId: newId() }, instant(now)),
    dueAt: instant(now + dueInMs),
  };
}

/** In words: the status, or for a rejected one its code. */
export function endOf({
  status,
  rejectionCode,
}: Pick<Transfer, 'status' | 'rejectionCode'>): string {
  return rejectionCode ?? status;
}

const READ_AT_ONCE = 1_000;

/** Each has this end, told by one event, its hold gone to 0; and every month holds what did not come back. */
export async function assertEnds(db: TestDatabase, ends: ReadonlyMap<Uuid, string>): Promise<void> {
  const reader = db.database.reader;
  for (let from = 0; from < ends.size; from += READ_AT_ONCE) {
    const some = [...ends].slice(from, from + READ_AT_ONCE);
    const ids = some.map(([id]) => id);
    const found = new Map(
      (await reader.select(transfers, { id: ids })).map((one) => [one.id, one]),
    );
    const held = new Map(
      (await reader.select(holds, { resourceId: ids })).map((hold) => [hold.resourceId, hold]),
    );
    const told = await eventsOfEach(db, ids);
    for (const [id, end] of some) {
      const transfer = found.get(id);
      assert(transfer !== undefined, `there is no transfer ${id}`);
      assert.equal(endOf(transfer), end, `transfer ${id}`);
      const isPending = end === 'pending_approval';
      assert.deepEqual(
        told.get(id) ?? [],
        isPending ? [] : [`transfer.${transfer.status}`],
        `events of ${id}`,
      );
      assert.equal(held.get(id)?.remaining, isPending ? transfer.raw + transfer.feeRaw : 0n);
    }
  }
}

/** The counted amounts of the account, by month: completed and pending. */
export async function assertMonths(
  db: TestDatabase,
  { id: accountId }: Pick<Account, 'id'>,
): Promise<void> {
  const rows = await db.sql(
    `SELECT limit_month AS month, SUM(IF(status IN ('completed','held','pending_approval'), COALESCE(captured_raw, raw), 0)) AS used FROM transfers
     WHERE source_account_id=${idLiteral(accountId)} GROUP BY limit_month`,
  );
  for (const { month, used } of rows) {
    const total = await db.database.reader.find(monthTotals, {
      accountId,
      asset: 'COPM',
      month: String(month),
    });
    assert.equal(total?.used, BigInt(String(used)), `month ${String(month)}`);
  }
}

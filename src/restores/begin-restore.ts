import type { Registry } from 'prom-client';
import type { AuditAction } from '../access/audit-actions.js';
import { type AuditEntry, recordAction } from '../access/audit-log.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, invalidField, invalidState } from '../core/errors.js';
import { newId } from '../core/ids.js';
import { type Clock, type Instant, instant, toRfc3339 } from '../core/instant.js';
import { registerGauges } from '../core/meters.js';
import * as column from '../db/columns.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { type Restore, restores } from '../db/entities/restores.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { OPEN_RESTORE_SQL } from '../ledger/event-log.js';
import { assertMayAct, type StaffIdentity } from '../staff/rules.js';
import { isLossy, skipFor } from './rules.js';

/** Begins a restore, which closes the ledger until it is finished. (docs/operations/backup.md) */

/** The time of which data is missing. */
interface LostTime {
  /** Everything committed later is missing. */
  readonly restoredTo: Instant;
  readonly until: Instant;
  /** Numbers to skip. Null for more than any tenant can have used in that time. */
  readonly skip: bigint | null;
}

/** By time before id, because the ids of some copies do not follow time. */
const BY_TIME = ['beganAt', 'id'] as const;

/** Returns the unfinished restore: one that a person has begun, otherwise the first one noticed. */
export async function openRestore(reader: Reader): Promise<Restore | undefined> {
  const open = await reader.select(restores, { finishedAt: null }, { orderBy: BY_TIME });
  return chooseLeading(open);
}

function chooseLeading(open: readonly Restore[]): Restore | undefined {
  return open.find(({ beganById }) => beganById !== null) ?? open[0];
}

export async function lastRestore(reader: Reader): Promise<Restore | undefined> {
  const open = await openRestore(reader);
  return open ?? (await reader.select(restores, {}, { orderBy: BY_TIME })).at(-1);
}

/** Returns other finished restores that lost data and have an unqueried rail, oldest first. */
export async function unqueriedRestores(
  reader: Reader,
  { id }: Restore,
): Promise<readonly Restore[]> {
  const unasked = await reader.select(restores, { railsQueriedAt: null }, { orderBy: BY_TIME });
  return unasked.filter((one) => one.id !== id && one.finishedAt !== null && isLossy(one));
}

/**
 * Closes the ledger for every process, and records what was lost. Completes a restore that a
 * process noticed, if there is one. Throws ApiError authority_insufficient, invalid_field,
 * invalid_state (already begun).
 */
export async function beginRestore(
  { database, clock }: DatabaseDeps,
  lost: LostTime | null,
  givenReason: string,
  by: StaffIdentity,
): Promise<Restore> {
  assertMayAct('restore.begin', by);
  const reason = checkedText('reason', givenReason, MAX_REASON);
  if (lost !== null) await assertPossible(database.reader, lost, clock());
  return transact(database, async (transaction) => {
    const now = clock();
    const open = await transaction.select(
      restores,
      { finishedAt: null },
      { orderBy: BY_TIME, forUpdate: true },
    );
    const noticed = chooseLeading(open);
    if (noticed !== undefined && noticed.beganById !== null)
      throw new ApiError(
        invalidState(
          `a restore was begun at ${toRfc3339(noticed.beganAt)} by ${noticed.beganBy ?? 'nobody'}: finish it first`,
        ),
      );
    const begun: Restore = {
      ...(noticed ?? newRestore('operator', now)),
      reason,
      beganBy: by.name,
      beganById: by.id,
      restoredTo: lost?.restoredTo ?? null,
      lostUntil: lost?.until ?? null,
      skip: lost === null ? null : (lost.skip ?? skipFor(lost)),
    };
    const set =
      noticed === undefined
        ? insertSql(restores, [begun])
        : updateSql(restores, begun, { id: noticed.id });
    await transaction.execute(set);
    await recordAction(transaction, by, now, restoreAudit('restore.begin', begun));
    return begun;
  });
}

export function newRestore(noticedBy: Restore['noticedBy'], beganAt: Instant): Restore {
  const steps = {
    sequencesMovedAt: null,
    workflowsRebuiltAt: null,
    railsQueriedAt: null,
    auditedAt: null,
    workflowsNotifiedAt: null,
  };
  const lost = { restoredTo: null, lostUntil: null, skip: null };
  const nobody = { beganBy: null, beganById: null, finishedBy: null, finishedById: null };
  const open = { ...lost, ...steps, ...nobody, finishedAt: null };
  return { id: newId(), noticedBy, reason: '', beganAt, ...open };
}

export function restoreAudit(action: AuditAction, restore: Restore): AuditEntry {
  const { id, reason, restoredTo, lostUntil, skip, beganBy } = restore;
  const lost = {
    restored_to: toRfc3339(restoredTo),
    lost_until: toRfc3339(lostUntil),
    skip: skip === null ? null : skip.toString(),
  };
  const details = { reason, began_by: beganBy, ...lost };
  return { tenantId: null, action, subjectType: 'restore', subjectId: id, details };
}

const CLOCKS_APART_MS = 60_000;

async function assertPossible(
  reader: Reader,
  { restoredTo, until, skip }: LostTime,
  now: Instant,
): Promise<void> {
  if (until > instant(now + CLOCKS_APART_MS))
    throw new ApiError(invalidField('until', 'in_the_future'));
  if (restoredTo > until) throw new ApiError(invalidField('restored_to', 'after_until'));
  if (skip !== null && skip < 1n) throw new ApiError(invalidField('skip', 'out_of_range'));
  const [row] = await reader.query(
    'SELECT created_at FROM ledger_transactions ORDER BY id DESC LIMIT 1',
  );
  const last = row === undefined ? null : column.time.parse(row.created_at);
  if (last === null || last <= restoredTo + CLOCKS_APART_MS) return;
  throw new ApiError({
    ...invalidField('restored_to', 'too_early'),
    message: `the database contains a posting of ${toRfc3339(last)}, so it was restored to that time or later`,
  });
}

/** Returns the last lines of a dump, which close a copy's ledger. (docs/operations/backup.md) */
export function copyMark(clock: Clock, database: string): string {
  if (!/^[A-Za-z0-9_]{1,64}$/.test(database))
    throw new RangeError('the name of the database is not plain letters, digits and _');
  const mark = { ...newRestore('copy', clock()), reason: 'this is a copy' };
  const isOpen = `SELECT 1 FROM ${database}.restores WHERE finished_at IS NULL`;
  const columns = restores.columns.map(({ name }) => name).join(',');
  const values = restores.columns.map(({ property, column: own }) =>
    own.literal(mark[property as keyof typeof mark]),
  );
  const now = column.string.literal(toRfc3339(mark.beganAt));
  return `-- A copy, closed since ${now}: nothing is posted until it is repaired (restore begin, restore finish).
INSERT INTO ${database}.restores (${columns}) SELECT ${values.join(',')} FROM DUAL WHERE NOT EXISTS (${isOpen});
`;
}

export function restoreMetrics(registry: Registry, reader: Reader): void {
  registerGauges(
    registry,
    {
      restore_open: {
        help: '1 while a restore is open: the ledger posts nothing until it is finished',
      },
    },
    async () => ({ restore_open: (await reader.query(OPEN_RESTORE_SQL)).length }),
  );
}

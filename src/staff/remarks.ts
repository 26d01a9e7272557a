import { type AuditEntry, listSubjectRows, recordOnce } from '../access/audit-log.js';
import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import type { AuditRow } from '../db/entities/identity.js';
import type { StaffIdentity } from './rules.js';
import { SESSION_MS } from './sessions.js';

/**
 * Notes of the staff on a resource, and who has taken it. Both are lines of the audit log that change
 * nothing else. (docs/contract.md, Staff)
 */

/** Characters of a note. */
export const MAX_NOTE = 2_000;
const TAKEN_MS = 60 * 60_000;

/** The remarks by their names in the audit log. */
export const REMARKS = { note: 'note.add', take: 'item.take', release: 'item.release' } as const;
/** Lines of the audit log that change nothing. */
const UNCHANGING: readonly string[] = [...Object.values(REMARKS), 'list.export'];

type Line = Pick<AuditRow, 'action' | 'actorClaimed' | 'at'>;

/** Whether the line is about a change of the resource, or a refused attempt at one. */
export function isAboutChange({ action }: Pick<Line, 'action'>): boolean {
  return !UNCHANGING.includes(action);
}

export interface Taker {
  readonly name: string;
  readonly since: Instant;
  readonly until: Instant;
}

/**
 * Returns who has taken the resource of these lines. Null after an hour, and after the resource was
 * released or any action on it was performed.
 */
export function takerOf(lines: readonly Line[], now: Instant): Taker | null {
  const ofItem = lines.filter(
    ({ action }) =>
      action !== REMARKS.note && action !== 'list.export' && !action.endsWith('_refused'),
  );
  const last = ofItem.toSorted((one, other) => one.at - other.at).at(-1);
  if (last?.action !== REMARKS.take || now - last.at >= TAKEN_MS) return null;
  return { name: last.actorClaimed, since: last.at, until: instant(last.at + TAKEN_MS) };
}

/** Returns those of the resources that are taken. */
export async function readTakers(
  reader: Reader,
  ids: readonly Uuid[],
  now: Instant,
): Promise<ReadonlyMap<string, Taker>> {
  // The id of a line is that of its form, which is at most as old as the session.
  const rows = await listSubjectRows(reader, ids, instant(now - SESSION_MS - TAKEN_MS));
  const lines = [...groupBy(rows, ({ subjectId }) => subjectId)];
  return new Map(
    lines.flatMap(([id, own]): [string, Taker][] => {
      const taker = takerOf(own, now);
      return taker === null ? [] : [[id, taker]];
    }),
  );
}

type Subject = Pick<AuditEntry, 'tenantId' | 'subjectType' | 'subjectId'>;

/** Records a remark once under this id. `note` has up to `MAX_NOTE` characters; '' without one. */
export function recordRemark(
  deps: DatabaseDeps,
  remark: keyof typeof REMARKS,
  subject: Subject,
  by: StaffIdentity,
  note: string,
  id: Uuid,
): Promise<void> {
  const details = note === '' ? {} : { note };
  return recordOnce(deps, id, by, { ...subject, action: REMARKS[remark], details });
}

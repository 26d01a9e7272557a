import { hash } from 'node:crypto';
import type { Amount } from '../../core/amount.js';
import { compareText } from '../../core/collections.js';
import { parseUuid, type Uuid } from '../../core/ids.js';
import type { ApprovableType } from '../../db/entities/approvals.js';
import { type StaffActionName, actionRefusal, type StaffIdentity } from '../../staff/rules.js';
import { DeskError } from '../desk.js';
import { LISTS, type WaitingKind } from '../reading/waiting.js';

/** Sets of items of a list, which a person decides by one form. */

/** Actions that can be performed on several items of a list. */
export const SET_ACTIONS: { readonly [Kind in WaitingKind]?: readonly StaffActionName[] } = {
  transfers: LISTS.transfers.decision.actions,
  payouts: LISTS.payouts.decision.actions,
} satisfies Record<`${ApprovableType}s`, readonly StaffActionName[]>;

/** Returns the verbs of the actions that this person may perform on a set of the list. */
export function setVerbs(kind: WaitingKind, by: StaffIdentity): readonly string[] {
  const allowed = (SET_ACTIONS[kind] ?? []).filter((name) => actionRefusal(name, by) === null);
  return allowed.map((name) => name.replace(/^.*\./, ''));
}

const MAX_ITEMS = 100;

/** Returns each selected id once. Throws `DeskError` for a malformed id, or for too many. */
export function selectedIds(given: readonly string[]): readonly Uuid[] {
  const ids = [...new Set(given.flatMap((text) => parseUuid(text) ?? []))];
  if (given.some((text) => parseUuid(text) === null) || ids.length > MAX_ITEMS)
    throw new DeskError(400, 'Not accepted', `Select at most ${MAX_ITEMS} items of a list.`);
  return ids;
}

interface SetRow {
  readonly id: Uuid;
  readonly raw?: bigint;
  readonly asset?: Amount['asset'] | null;
}

/** Returns a digest of a set's content, independent of its order. A form and its code are bound to it. */
export function digestOf(rows: readonly SetRow[]): string {
  const lines = rows.map(({ id, raw, asset }) => `${id} ${raw} ${asset}`).sort(compareText);
  return hash('sha256', lines.join('\n'), 'hex');
}

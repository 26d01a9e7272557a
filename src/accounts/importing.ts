import type { Actor } from '../access/audit-log.js';
import type { Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { accounts } from '../db/entities/parties.js';
import { type Draft, draftAccount, judgeDrafts, type NewAccount, openAccounts } from './opening.js';

/** `known`: the account was open already, so repeating an import opens nothing twice. */
type Imported =
  | { readonly result: 'opened' | 'known' }
  | { readonly result: 'refused'; readonly refusal: Refusal };

export interface ImportDeps extends DatabaseDeps {
  readonly actor: Actor;
  /** Reports the results without writing anything. */
  readonly dryRun: boolean;
}

/**
 * Opens a group of a tenant's accounts. An account of the same type and name is known by its phone,
 * or by its alias if the draft has no phone.
 */
export async function importAccounts(
  { database, clock, actor, dryRun }: ImportDeps,
  tenantId: Uuid,
  wanted: readonly NewAccount[],
): Promise<readonly Imported[]> {
  const drafted = wanted.map((one) => draftAccount(one, clock()));
  const drafts = drafted.flatMap((one) => ('draft' in one ? one.draft : []));
  const known = await findKnown(database.reader, tenantId, drafts);
  const fresh = drafts.filter((draft) => !known.has(draft));
  const judged = dryRun
    ? await judgeDrafts(database.reader, tenantId, fresh, clock())
    : await openAccounts(database, clock, tenantId, fresh, actor);
  const refusals = new Map<Draft, Refusal>();
  fresh.forEach((draft, index) => {
    const refusal = judged[index] ?? null;
    if (refusal !== null) refusals.set(draft, refusal);
  });
  // A concurrent run of the same import may have been faster.
  const overtaken = await findKnown(database.reader, tenantId, [...refusals.keys()]);
  return drafted.map((one): Imported => {
    if ('refusal' in one) return { result: 'refused', refusal: one.refusal };
    if (known.has(one.draft) || overtaken.has(one.draft)) return { result: 'known' };
    const refusal = refusals.get(one.draft);
    return refusal === undefined ? { result: 'opened' } : { result: 'refused', refusal };
  });
}

async function findKnown(
  reader: Reader,
  tenantId: Uuid,
  drafts: readonly Draft[],
): Promise<ReadonlySet<Draft>> {
  const aliases = drafts.flatMap(({ account }) => account.alias ?? []);
  const phones = drafts.flatMap(({ account }) => account.phone ?? []);
  const byAlias = new Map(
    (await reader.select(accounts, { tenantId, alias: aliases })).map((one) => [one.alias, one]),
  );
  const byPhone = new Map(
    (await reader.select(accounts, { tenantId, phone: phones })).map((one) => [one.phone, one]),
  );
  const known = new Set<Draft>();
  for (const draft of drafts) {
    const { type, name, alias, phone } = draft.account;
    const ofAlias = alias === null ? undefined : byAlias.get(alias);
    const found = phone === null ? ofAlias : byPhone.get(phone);
    const isSame = found !== undefined && found.type === type && found.name === name;
    // An alias of another account is a conflict, even if the phone matches.
    if (isSame && (ofAlias === undefined || ofAlias.id === found.id)) known.add(draft);
  }
  return known;
}

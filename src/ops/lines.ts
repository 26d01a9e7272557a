import { type Amount } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import { destinationText } from '../payouts/rules.js';
import { findResources, type SearchResult } from '../support/reading/search.js';
import { namesOf } from '../support/reading/transfers.js';
import { endpointWord } from '../webhooks/endpoint-text.js';
import { OpsError } from './failures.js';
import { cellOf, type Fields } from './fields.js';

/** Lines of resources of any kind. */

export interface Owned {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly status?: string;
  readonly createdAt: Instant;
  readonly createdBy?: Uuid;
  readonly proposedBy?: string;
}

type Paid = Amount & { readonly sourceAccountId: Uuid };

/** Returns a line for each of these resources. */
export async function linesOf(
  reader: Reader,
  found: Partial<SearchResult>,
): Promise<readonly Fields[]> {
  const { accounts = [], transfers = [], payouts = [], bonuses = [], batches = [] } = found;
  const { adjustments = [], endpoints = [], payIns = [], schedules = [] } = found;
  const all = [accounts, transfers, payouts, bonuses, batches, adjustments, payIns].flat();
  const tenants = (found.tenants ?? []).map((one) => ({ ...one, tenantId: one.id }));
  const names = await namesOf(reader, [...all, ...endpoints, ...schedules, ...tenants]);
  const line = (
    kind: string,
    one: Owned,
    name: string,
    to: string | null = null,
    amount: Amount | null = null,
  ): Fields => {
    const { id, status = null, createdAt } = one;
    const tenant = names.tenant(one.tenantId);
    const requested_by = one.createdBy ? names.person(one.createdBy) : (one.proposedBy ?? null);
    const created_at = toRfc3339(createdAt);
    return { kind, id, amount, name, to, status, tenant, created_at, requested_by };
  };
  const receiver = (id: Uuid, { tenantId }: Owned): string => names.account(id, tenantId);
  const payment = (kind: string, one: Owned & Paid, to: string): Fields =>
    line(kind, one, names.account(one.sourceAccountId), to, one);
  return [
    ...tenants.map((one) => line('tenant', one, one.name)),
    ...accounts.map((one) => line('account', one, one.name)),
    ...transfers.map((one) => payment('transfer', one, receiver(one.destinationAccountId, one))),
    ...payouts.map((one) => payment('payout', one, destinationText(one))),
    ...bonuses.map((one) =>
      payment('bonus', { ...one, status: 'completed' }, receiver(one.recipientAccountId, one)),
    ),
    ...batches.map((one) => {
      const total = one.asset && { raw: one.totalRaw, asset: one.asset };
      return line('batch', one, names.account(one.sourceAccountId), null, total);
    }),
    ...adjustments.map((one) =>
      line('adjustment', one, one.reference, names.account(one.accountId), one),
    ),
    ...payIns.map((one) => {
      const to = names.account(one.accountId);
      return line('pay-in', { ...one, status: 'completed' }, one.reference, to, one);
    }),
    ...endpoints.map((one) => line('endpoint', { ...one, status: endpointWord(one) }, one.url)),
    ...schedules.map((one) => payment('schedule', one, receiver(one.destinationAccountId, one))),
  ];
}

/** Returns the lines of the resources with these ids, by id. Some kinds have none. */
export async function linesById(
  reader: Reader,
  ids: readonly Uuid[],
): Promise<ReadonlyMap<string, Fields>> {
  const lines = await linesOf(reader, await findResources(reader, ids));
  return new Map(lines.map((line) => [cellOf(line.id ?? null), line]));
}

/** Returns a line as text: `transfer ID: AMOUNT, completed, Acme to Ana, acme`. */
export function lineText({ kind = null, id = null, ...line }: Fields): string {
  const { amount = null, status = null, name = null, to = null, tenant = null } = line;
  const parties = [name, to].flatMap((one) => (one === null ? [] : cellOf(one))).join(' to ');
  const parts = [amount, status, parties, tenant].filter((one) => one !== null && one !== '');
  const what = `${cellOf(kind)} ${cellOf(id)}`;
  return [what, parts.map((one) => cellOf(one)).join(', ')].filter((one) => one !== '').join(': ');
}

/** Throws OpsError, which describes the candidates, for several rows. */
export async function onlyOf<Row extends { readonly id: Uuid }>(
  reader: Reader,
  rows: readonly Row[],
  named: string,
): Promise<Row | undefined> {
  if (rows.length <= 1) return rows[0];
  const what = named.includes('://') ? 'the URL of several' : 'the beginning of several ids';
  throw new OpsError(`${named} is ${what}:\n${await candidatesText(reader, rows)}`);
}

/** Returns a line for each of the rows; only the id for some kinds. */
export async function candidatesText(
  reader: Reader,
  rows: readonly { readonly id: Uuid }[],
): Promise<string> {
  const ids = rows.map(({ id }) => id);
  const lines = await linesById(reader, ids);
  return ids.map((id) => lineText(lines.get(id) ?? { kind: 'id', id })).join('\n');
}

import { z } from 'zod';
import { listAliases } from '../accounts/read-accounts.js';
import { parseAlias, parsePhone } from '../accounts/recipients.js';
import { parseUuid, type Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import { auditFindings } from '../db/entities/audits.js';
import { batches } from '../db/entities/batches.js';
import { bonuses } from '../db/entities/bonuses.js';
import { events } from '../db/entities/events.js';
import { adjustments, transfers } from '../db/entities/operations.js';
import {
  type Account,
  accounts,
  members,
  type Tenant,
  tenants,
  tokens,
} from '../db/entities/parties.js';
import { payouts } from '../db/entities/payouts.js';
import { schedules } from '../db/entities/schedules.js';
import { webhookEndpoints } from '../db/entities/webhooks.js';
import type { Table } from '../db/table.js';
import { staff } from '../db/entities/staff.js';
import { findStaff } from '../staff/people.js';
import {
  aliasesBeginning,
  findByIdBeginning,
  idBeginsSql,
  idsNamed,
} from '../support/reading/search.js';
import { OpsError, shellWord, UsageError } from './failures.js';
import { PROGRAM, QUOTED } from './help.js';
import { candidatesText, onlyOf } from './lines.js';
import type { Output } from './output.js';
import { orSimilar, similarTo } from './similar.js';
import { readStandardInput } from './standard-input.js';

/**
 * A resource that an input names, or a text that is asked for. It is found once the user is
 * authorised, or to choose what the command needs.
 */
export class Lookup<Resource> {
  /**
   * `tenant` is the user's name for the tenant, empty without the option. Nothing is asked for
   * without `output`. Throws OpsError and UsageError.
   */
  constructor(
    readonly find: (reader: Reader, tenant?: string, output?: Output) => Promise<Resource>,
  ) {}
}

/** An input with its resources in place of their lookups. */
export type Resolved<Input> = {
  readonly [Name in keyof Input]: Input[Name] extends Lookup<infer Resource> | undefined
    ? Resource | Extract<Input[Name], undefined>
    : Input[Name];
};

export async function resolveLookups<Input extends object>(
  reader: Reader,
  input: Input,
  tenant: string,
  output: Output,
): Promise<Resolved<Input>> {
  const found: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input))
    found[name] = value instanceof Lookup ? await value.find(reader, tenant, output) : value;
  return found as Resolved<Input>;
}

/** The resource that a command is about. Null if it is unknown, or if there are several. */
export interface Subject {
  readonly tenantId: Uuid | null;
  readonly id: Uuid | null;
}

/** Returns the tenant of what the input names, and the id of the resource in its property `name`. */
export async function findSubject(
  reader: Reader,
  input: object,
  tenant: string,
  name: string,
): Promise<Subject> {
  const rows = new Map<string, unknown>();
  const own = { ...input, ...(tenant && { tenant: named.tenant.parse(tenant) }) };
  for (const [property, value] of Object.entries(own) as [string, unknown][])
    if (value instanceof Lookup)
      rows.set(property, await value.find(reader, tenant).catch(() => undefined));
  const ofTenant = uuidsIn(rows.get('tenant'), 'id');
  const ofRows = [...rows.values()].flatMap((row) => uuidsIn(row, 'tenantId'));
  return {
    tenantId: onlyUuid(ofTenant.length > 0 ? ofTenant : ofRows),
    id: onlyUuid(uuidsIn(rows.get(name), 'id')),
  };
}

function onlyUuid(ids: readonly Uuid[]): Uuid | null {
  const [only, ...others] = new Set(ids);
  return others.length > 0 ? null : (only ?? null);
}

/** Returns the values of a property of a row, of a row beside its name, or of several rows. */
function uuidsIn(found: unknown, property: 'id' | 'tenantId'): readonly Uuid[] {
  if (typeof found !== 'object' || found === null) return [];
  const values: Readonly<Record<string, unknown>> = { ...found };
  if (property in values) return [parseUuid(String(values[property])) ?? []].flat();
  return Object.values(values).flatMap((value) => uuidsIn(value, property));
}

/** Throws OpsError with `missing` if `find` returns undefined. */
function lookup<Resource>(
  find: (reader: Reader, named: string, tenant: string) => Promise<Resource | undefined>,
  missing: (named: string, tenant: string, reader: Reader) => string | Promise<string>,
) {
  return z.string().transform(
    (named) =>
      new Lookup(async (reader, tenant = '') => {
        const found = await find(reader, named, tenant);
        if (found === undefined) throw new OpsError(await missing(named, tenant, reader));
        return found;
      }),
  );
}

const MAX_IDS = 1_000;
/** More characters than this number of ids has. */
const MAX_INPUT = 100_000;

/** Finds each resource that is named once, by arguments or, for `-`, by the lines of standard input. */
export function several<Row extends { readonly id: Uuid }>(one: z.ZodType<Lookup<Row>>) {
  return z.array(z.string()).transform((given) => {
    const isRead = given.length === 1 && given[0] === '-';
    return new Lookup(async (reader, tenant) => {
      const text = isRead ? await readStandardInput(MAX_INPUT) : given.join('\n');
      const names = text.split('\n').flatMap((line) => line.trim() || []);
      if (names.length === 0 || names.length > MAX_IDS)
        throw new UsageError(`give from 1 to ${MAX_IDS} ids, not ${names.length}`);
      const rows = new Map<Uuid, Row>();
      for (const name of names) {
        const row = await one.parse(name).find(reader, tenant);
        rows.set(row.id, row);
      }
      return { rows: [...rows.values()], isSet: isRead || given.length > 1 };
    });
  });
}

async function findTenant(reader: Reader, tenant: string): Promise<Tenant | undefined> {
  const found =
    parseUuid(tenant) === null ? await reader.find(tenants, { name: tenant }) : undefined;
  return found ?? onlyOf(reader, await readById(reader, tenants, tenant), tenant);
}

async function tenantIdOf(reader: Reader, tenant: string): Promise<Uuid> {
  return (await named.tenant.parse(tenant).find(reader, tenant)).id;
}

const MAX_CANDIDATES = 5;
/** Characters that aliases of all tenants have in common with a mistyped one, for the index. */
const COMMON_BEGINNING = 4;

/** Returns the rows whose id is or begins with the text. Throws OpsError for more than a few. */
async function readById<Row extends { readonly id: Uuid }>(
  reader: Reader,
  table: Table<Row>,
  named: string,
): Promise<readonly Row[]> {
  const begins = idBeginsSql(named);
  if (begins === null) return [];
  const rows = await reader.list(table, `WHERE ${begins} LIMIT ${MAX_CANDIDATES + 1}`);
  if (rows.length <= MAX_CANDIDATES) return rows;
  const first = await candidatesText(reader, rows.slice(0, MAX_CANDIDATES));
  throw new OpsError(
    `${named} is the beginning of more than ${MAX_CANDIDATES} ids: add digits. The first:\n${first}`,
  );
}

async function findAccount(reader: Reader, named: string, tenant: string) {
  const inTenant = tenant === '' ? {} : { tenantId: await tenantIdOf(reader, tenant) };
  const byId = (await readById(reader, accounts, named)).filter(
    ({ type, tenantId }) => type !== 'system' && tenantId === (inTenant.tenantId ?? tenantId),
  );
  const isId =
    parseUuid(named) !== null || (tenant === '' && /^[0-9]*[a-f-][0-9a-f-]*$/i.test(named));
  if (byId.length > 0 || isId) return onlyOf(reader, byId, named);
  const key = accountKey(named);
  const where = tenant === '' ? { id: await idsNamed(reader, named) } : { ...inTenant, ...key };
  const all = await reader.select(accounts, where);
  const [found, ...others] = all.filter(({ type }) => type !== 'system');
  if (others.length === 0) return found;
  const owners = await reader.select(tenants, { id: all.map(({ tenantId }) => tenantId) });
  const names = owners.map(({ name }) => name).join(', ');
  throw new UsageError(`--tenant is required: ${named} exists in ${names}`);
}

function accountKey(named: string): Partial<Account> {
  if (named.trim() === '') throw new UsageError(`the account is empty: ${QUOTED}`);
  const alias = parseAlias(named);
  if (alias !== null) return { alias };
  if (named.startsWith('$')) throw new UsageError(`${named} is not a valid alias`);
  const phone = parsePhone(named);
  if (phone === null) throw new UsageError(`${named} is not an id, an alias ($…) or a phone`);
  return { phone };
}

async function findMember(reader: Reader, named: string, tenant: string) {
  const tenantId = await tenantIdOf(reader, tenant);
  const own = { tenantId, isActive: true };
  const found =
    parseUuid(named) === null ? await reader.find(members, { ...own, name: named }) : undefined;
  if (found !== undefined) return found;
  const byId = await readById(reader, members, named);
  const active = byId.filter((member) => member.tenantId === tenantId && member.isActive);
  return onlyOf(reader, active, named);
}

/** Finds a token with the name of its member. */
async function findToken(reader: Reader, keyId: string) {
  const token = await reader.find(tokens, { keyId });
  if (token === undefined) return undefined;
  const member = await reader.find(members, { id: token.memberId });
  return { token, memberName: member?.name ?? token.memberId };
}

async function findAdjustment(reader: Reader, named: string, tenant: string) {
  const own = tenant === '' ? {} : { tenantId: await tenantIdOf(reader, tenant) };
  const found = tenant === '' ? undefined : { ...own, reference: named };
  const byReference = found && (await reader.find(adjustments, found));
  if (byReference !== undefined) return byReference;
  const byId = await readById(reader, adjustments, named);
  return onlyOf(
    reader,
    byId.filter(({ tenantId }) => tenantId === (own.tenantId ?? tenantId)),
    named,
  );
}

/** Finds a transfer or bonus. */
async function findOriginal(reader: Reader, named: string) {
  const found = [
    ...(await readById(reader, transfers, named)),
    ...(await readById(reader, bonuses, named)),
  ];
  return onlyOf(reader, found, named);
}

/** The kinds of resources with a `show`: noun, and group of commands. */
const SHOWN = {
  transfers: ['transfer', 'transfers'],
  bonuses: ['bonus', 'bonuses'],
  payouts: ['payout', 'payouts'],
  batches: ['batch', 'batches'],
  schedules: ['schedule', 'schedules'],
  adjustments: ['adjustment', 'adjustments'],
  endpoints: ['webhook endpoint', 'webhooks'],
  accounts: ['account', 'accounts'],
  tenants: ['tenant', 'tenants'],
} as const;

/** Returns why an id finds nothing: it is too short, or that of another kind of resource. */
async function adviceOn(reader: Reader, named: string, noun: string): Promise<string> {
  if (/^[0-9a-f-]+$/i.test(named) && named.replaceAll('-', '').length < 8)
    return ': give at least 8 digits of its id';
  if (noun !== 'event' && (await readById(reader, events, named)).length > 0)
    return `; this is an event: ${PROGRAM} events show ${named}`;
  const found = await findByIdBeginning(reader, named);
  for (const [kind, [other, commands]] of Object.entries(SHOWN)) {
    const [first] = found[kind as keyof typeof SHOWN];
    if (other !== noun && first !== undefined)
      return `; this is ${other.startsWith('a') ? 'an' : 'a'} ${other}: ${PROGRAM} ${commands} show ${first.id}`;
  }
  return '';
}

/** Finds by id, the beginning of an id, or `also`, among resources that are not deleted. */
function byId<Row extends { readonly id: Uuid; readonly status?: string }>(
  table: Table<Row>,
  noun: string,
  also: (reader: Reader, named: string) => Promise<readonly Row[]> = () => Promise.resolve([]),
) {
  const find = async (reader: Reader, named: string): Promise<Row | undefined> => {
    const found = [...(await readById(reader, table, named)), ...(await also(reader, named))];
    return onlyOf(
      reader,
      found.filter(({ status }) => status !== 'deleted'),
      named,
    );
  };
  return lookup(
    find,
    async (named, _, reader) =>
      `there is no ${noun} ${named}${await adviceOn(reader, named, noun)}`,
  );
}

export const named = {
  tenant: lookup(findTenant, async (tenant, _, reader) => {
    const names = (await reader.select(tenants, {})).map(({ name }) => name);
    const similar = similarTo(tenant, names);
    const advice = similar.length > 0 ? '' : await adviceOn(reader, tenant, 'tenant');
    return `there is no tenant ${tenant}${advice || orSimilar(similar, 'tenants list')}`;
  }),
  /** By id, alias or phone; of an alias or phone of several tenants, the tenant is required. */
  account: lookup(findAccount, async (account, tenant, reader) => {
    const missing = `there is no account ${account}${tenant === '' ? '' : ` in ${tenant}`}`;
    if (parseAlias(account) === null)
      return `${missing}${await adviceOn(reader, account, 'account')}`;
    const aliases =
      tenant === ''
        ? await aliasesBeginning(reader, account.slice(0, COMMON_BEGINNING))
        : await listAliases(reader, await tenantIdOf(reader, tenant));
    const similar = similarTo(account, aliases);
    return `${missing}${similar.length > 0 ? orSimilar(similar, '') : ''}`;
  }),
  member: lookup(findMember, async (member, tenant, reader) => {
    const own = { tenantId: await tenantIdOf(reader, tenant), isActive: true } as const;
    const names = (await reader.select(members, own)).map(({ name }) => name);
    const list = `members list --tenant ${shellWord(tenant)}`;
    return `${tenant} has no member ${member}${orSimilar(similarTo(member, names), list)}`;
  }),
  token: lookup(findToken, (keyId) => `there is no token with the key id ${keyId}`),
  adjustment: lookup(findAdjustment, async (named, tenant, reader) => {
    if (tenant !== '') return `${tenant} has no adjustment with the reference ${named}`;
    const missing = `there is no adjustment ${named}`;
    if (idBeginsSql(named) === null) return `${missing}; a reference needs --tenant`;
    return `${missing}${await adviceOn(reader, named, 'adjustment')}`;
  }),
  transfer: byId(transfers, 'transfer'),
  original: lookup(
    findOriginal,
    async (id, _, reader) =>
      `there is no transfer or bonus ${id}${await adviceOn(reader, id, 'original')}`,
  ),
  endpoint: byId(webhookEndpoints, 'webhook endpoint', (reader, url) =>
    url.includes('://') ? reader.select(webhookEndpoints, { url }) : Promise.resolve([]),
  ),
  event: byId(events, 'event'),
  bonus: byId(bonuses, 'bonus'),
  batch: byId(batches, 'batch'),
  finding: byId(auditFindings, 'finding'),
  schedule: byId(schedules, 'schedule'),
  payout: byId(payouts, 'payout'),
  staff: lookup(findStaff, async (name, _, reader) => {
    const names = (await reader.select(staff, {})).map((one) => one.name);
    return `no member of the staff is called ${name}${orSimilar(similarTo(name, names), 'staff list')}`;
  }),
};

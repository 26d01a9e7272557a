import { parsePhoneNumberFromString } from 'libphonenumber-js';
import type { Batcher } from '../core/batcher.js';
import { groupBy } from '../core/collections.js';
import { parseUuid, type Uuid } from '../core/ids.js';
import { coalescedReads } from '../db/reader.js';
import * as column from '../db/columns.js';
import type { Reader, StoredRow } from '../db/database.js';
import { accounts, tenants } from '../db/entities/parties.js';
import { literal, literals } from '../db/statements.js';

export type RecipientName =
  | { readonly by: 'account_id'; readonly value: Uuid }
  /** In lower case, with the `$`. */
  | { readonly by: 'alias'; readonly value: string }
  /** In the form E.164. */
  | { readonly by: 'phone'; readonly value: string };

/** Null if no account with this name can be paid. */
export type Recipient = Uuid | null;

/** The result for a phone of several accounts, none of them the tenant's own. */
export const SEVERAL = 'several';

/** Returns the account that a name means. */
export type Recipients = (name: RecipientName) => Recipient | typeof SEVERAL;

/** Treats a phone of several accounts as unknown, as the lookup does. */
export function uniqueRecipient(found: ReturnType<Recipients>): Recipient {
  return found === SEVERAL ? null : found;
}

/** Limit of names in one statement. MariaDB turns an IN list of a thousand values into a temporary table. */
export const MAX_NAMES = 900;

/** Parses a name in a single field: an `$alias`, an account's id, or a phone. Null if malformed. */
export function parseRecipient(text: string): RecipientName | null {
  if (text.startsWith('$')) {
    const alias = parseAlias(text);
    return alias === null ? null : { by: 'alias', value: alias };
  }
  const id = parseUuid(text);
  if (id !== null) return { by: 'account_id', value: id };
  const phone = parsePhone(text);
  return phone === null ? null : { by: 'phone', value: phone };
}

/** Aliases are resolved in the tenant, ids and phones also in its network. */
export async function resolveRecipients(
  reader: Reader,
  tenantId: Uuid,
  names: readonly RecipientName[],
): Promise<Recipients> {
  const namesBy = (by: RecipientName['by']): readonly string[] => [
    ...new Set(names.filter((name) => name.by === by).map((name) => name.value)),
  ];
  const [byId, byAlias, byPhone] = await Promise.all([
    findReachable(reader, tenantId, 'id', namesBy('account_id')),
    findOwn(reader, tenantId, namesBy('alias')),
    findReachable(reader, tenantId, 'phone', namesBy('phone')),
  ]);
  const ids = new Set(byId.map((row) => column.uuid.parse(row.id)));
  const aliases = new Map(
    byAlias.map((row) => [column.string.parse(row.alias), column.uuid.parse(row.id)]),
  );
  const phones = phoneOwners(byPhone, tenantId);
  return ({ by, value }) => {
    if (by === 'account_id') return ids.has(value) ? value : null;
    return (by === 'alias' ? aliases.get(value) : phones.get(value)) ?? null;
  };
}

async function findOwn(reader: Reader, tenantId: Uuid, aliases: readonly string[]) {
  if (aliases.length === 0) return [];
  return reader.query(
    `SELECT id, alias FROM accounts WHERE tenant_id=${literal(accounts, 'tenantId', tenantId)}
     AND alias IN (${literals(accounts, 'alias', aliases)}) AND status<>'closed' AND type<>'system'`,
  );
}

async function findReachable(
  reader: Reader,
  tenantId: Uuid,
  by: 'id' | 'phone',
  names: readonly string[],
): Promise<readonly StoredRow[]> {
  if (names.length === 0) return [];
  return reader.query(
    `SELECT a.id, a.alias, a.phone, a.name, a.type, a.tenant_id FROM accounts a JOIN tenants t ON t.id=a.tenant_id
     JOIN tenants mine ON mine.id=${literal(tenants, 'id', tenantId)}
     WHERE a.${by} IN (${literals(accounts, by, names as readonly Uuid[])}) AND a.status<>'closed' AND a.type<>'system'
       AND (t.id=mine.id OR t.network=mine.network)`,
  );
}

function phoneOwners(
  rows: readonly StoredRow[],
  tenantId: Uuid,
): ReadonlyMap<string, ReturnType<Recipients>> {
  const owners = new Map<string, ReturnType<Recipients>>();
  const own = new Set<string>();
  for (const row of rows) {
    const phone = column.string.parse(row.phone);
    const id = column.uuid.parse(row.id);
    if (column.uuid.parse(row.tenant_id) === tenantId) {
      own.add(phone);
      owners.set(phone, id);
    } else if (!own.has(phone)) owners.set(phone, owners.has(phone) ? SEVERAL : id);
  }
  return owners;
}

/** Returns the results that the recipient budget pays for: of aliases and phones, each name once. */
export function resultsToCharge(
  names: readonly RecipientName[],
  found: Recipients,
): readonly Recipient[] {
  const named = names.filter(({ by }) => by !== 'account_id');
  const byValue = new Map(named.map((name) => [name.value, name]));
  return Array.from(byValue.values(), (name) => uniqueRecipient(found(name)));
}

/** (docs/contract.md, Lookup) */
interface LookupResult {
  readonly account_id: Uuid;
  readonly alias: string | null;
  readonly display_name: string;
  readonly type: string;
}

interface AliasQuery {
  readonly tenantId: Uuid;
  readonly alias: string;
}

/** Looks up aliases; simultaneous look-ups share a statement. */
export class AliasLookup {
  private readonly reads: Batcher<AliasQuery, StoredRow | undefined>;

  constructor(reader: Reader) {
    this.reads = coalescedReads((lookups) => findAliases(reader, lookups));
  }

  async find(tenantId: Uuid, alias: string): Promise<LookupResult | null> {
    const found = await this.reads.submit({ tenantId, alias });
    return found === undefined ? null : present(found);
  }
}

async function findAliases(
  reader: Reader,
  lookups: readonly AliasQuery[],
): Promise<(key: AliasQuery) => StoredRow | undefined> {
  const conditions = Array.from(
    groupBy(lookups, ({ tenantId }) => tenantId),
    ([tenantId, queries]) => {
      const aliases = literals(
        accounts,
        'alias',
        queries.map(({ alias }) => alias),
      );
      return `(tenant_id=${literal(accounts, 'tenantId', tenantId)} AND alias IN (${aliases}))`;
    },
  );
  const rows = await reader.query(
    `SELECT id, tenant_id, alias, name, type FROM accounts WHERE (${conditions.join(' OR ')}) AND status<>'closed'`,
  );
  const found = new Map(
    rows.map((row) => [`${column.uuid.parse(row.tenant_id)}|${String(row.alias)}`, row]),
  );
  return ({ tenantId, alias }) => found.get(`${tenantId}|${alias}`);
}

/** Returns the tenant's account with this phone, or else the only such account of its network. */
export async function lookUpPhone(
  reader: Reader,
  tenantId: Uuid,
  phone: string,
): Promise<LookupResult | null> {
  const rows = await findReachable(reader, tenantId, 'phone', [phone]);
  const isOwn = (row: StoredRow): boolean => column.uuid.parse(row.tenant_id) === tenantId;
  const found = rows.find(isOwn) ?? (rows.length === 1 ? rows[0] : undefined);
  return found === undefined ? null : present(found);
}

function present(row: StoredRow): LookupResult {
  const type = column.string.parse(row.type);
  return {
    account_id: column.uuid.parse(row.id),
    alias: column.nullable(column.string).parse(row.alias),
    display_name: displayName(type, column.string.parse(row.name)),
    type,
  };
}

const ALIAS = /^\$[a-z0-9][a-z0-9._-]{1,28}[a-z0-9]$/;
const HOME_REGION = 'CO';
const MAX_PHONE_TEXT = 64;
/** A negative number: a spreadsheet computes -3001112176 from `+57-3001112233`. */
const MINUS = /^[\s(]*[\p{Pd}\u2212]/u;

/** Returns the alias in lower case, or null if it is malformed. (docs/contract.md, Alias) */
export function parseAlias(text: string): string | null {
  // ASCII only: toLowerCase would turn the Kelvin sign into a k.
  const alias = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return ALIAS.test(alias) ? alias : null;
}

/** Returns the number as E.164, or null. Without a country code it is Colombian. */
export function parsePhone(text: string): string | null {
  if (text.length > MAX_PHONE_TEXT || MINUS.test(text) || !pointsSeparateGroups(text)) return null;
  // By Colombian rules, 0057… would be carrier 5 and a Russian number.
  const written = text.trim().replace(/^tel:/i, '').replace(/^00/, '+');
  const phone = parsePhoneNumberFromString(written, {
    defaultCountry: HOME_REGION,
    extract: false,
  });
  return phone !== undefined && phone.isPossible() && phone.ext === undefined ? phone.number : null;
}

/**
 * Returns false if a point may be a decimal point, as in `573001112233.0` from a spreadsheet:
 * libphonenumber would append the 0 to the number.
 */
function pointsSeparateGroups(text: string): boolean {
  const groups = text.split(/[.\uff0e]/).map((group) => group.replace(/\P{Nd}/gu, ''));
  if (groups.length === 1) return true;
  // Zeros among all digits that libphonenumber reads: Western, full-width, Arabic and Persian.
  const isZero = /^[0\uff10\u0660\u06f0]*$/.test(groups.at(-1) ?? '');
  return groups.length > 2 && !isZero && groups.every((group) => group.length >= 2);
}

const graphemes = new Intl.Segmenter('es', { granularity: 'grapheme' });

/** Returns "Ana M. P." for a person, the full name for a business. (docs/contract.md, Lookup) */
export function displayName(type: string, name: string): string {
  if (type !== 'person') return name;
  const [first = '', ...rest] = name.split(/\s+/u).filter((word) => word !== '');
  return [first, ...rest.map((word) => `${initialOf(word)}.`)].join(' ');
}

/** Matches the first letter of most words. Any other word needs the segmenter, which is slow. */
const PLAIN_INITIAL = /^[!-~\p{sc=Latn}](?=$|[!-~\p{sc=Latn}])/u;

/** Returns the first letter, which may consist of several code points, as a capital. */
export function initialOf(word: string): string {
  const plain = PLAIN_INITIAL.exec(word)?.[0];
  if (plain !== undefined) return plain.toUpperCase();
  const [first] = graphemes.segment(word);
  return (first?.segment ?? '').toUpperCase();
}

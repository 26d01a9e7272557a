import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import type { Batcher } from '../core/batcher.js';
import * as column from '../db/columns.js';
import type { Reader, StoredRow } from '../db/database.js';
import { accounts, tenants } from '../db/entities/parties.js';
import { coalescedReads } from '../db/coalesced-reads.js';
import { literal, literals } from '../db/statements.js';
import { displayName } from './display-name.js';

interface LookupResult {
  readonly account_id: Uuid;
  readonly alias: string | null;
  readonly display_name: string;
  readonly type: string;
}

interface AskedAlias {
  readonly tenantId: Uuid;
  readonly alias: string;
}

/** Looks up aliases; simultaneous look-ups share a statement. */
export class AliasLookup {
  private readonly reads: Batcher<AskedAlias, StoredRow | undefined>;

  constructor(reader: Reader) {
    this.reads = coalescedReads((asked) => findAliases(reader, asked));
  }

  async find(tenantId: Uuid, alias: string): Promise<LookupResult | null> {
    const found = await this.reads.ask({ tenantId, alias });
    return found === undefined ? null : present(found);
  }
}

async function findAliases(
  reader: Reader,
  asked: readonly AskedAlias[],
): Promise<(key: AskedAlias) => StoredRow | undefined> {
  const ofTenants = Array.from(
    groupBy(asked, ({ tenantId }) => tenantId),
    ([tenantId, own]) =>
      `(tenant_id=${literal(accounts, 'tenantId', tenantId)} AND alias IN (${literals(
        accounts,
        'alias',
        own.map(({ alias }) => alias),
      )}))`,
  );
  const rows = await reader.query(
    `SELECT id, tenant_id, alias, name, type FROM accounts WHERE (${ofTenants.join(' OR ')}) AND status<>'closed'`,
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
  const own = literal(tenants, 'id', tenantId);
  const rows = await reader.query(
    `SELECT a.id, a.alias, a.name, a.type, a.tenant_id
     FROM accounts a JOIN tenants t ON t.id=a.tenant_id JOIN tenants mine ON mine.id=${own}
     WHERE a.phone=${literal(accounts, 'phone', phone)} AND a.status<>'closed' AND (t.id=mine.id OR t.network=mine.network)`,
  );
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

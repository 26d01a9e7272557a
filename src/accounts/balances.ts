import { ASSETS } from '../core/amount.js';
import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Batcher } from '../core/batcher.js';
import { uuid } from '../db/columns.js';
import type { Reader, StoredRow } from '../db/database.js';
import { balances } from '../db/entities/ledger.js';
import { accounts, memberRoles } from '../db/entities/parties.js';
import { coalescedReads } from '../db/coalesced-reads.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { assertAllowed } from './access.js';
import { pairsSql } from './reachable.js';

interface AskedBalances {
  readonly caller: Caller;
  readonly accountId: Uuid;
}

export class Balances {
  private readonly reads: Batcher<AskedBalances, readonly StoredRow[]>;

  constructor(reader: Reader) {
    this.reads = coalescedReads((asked) => readTogether(reader, asked));
  }

  /**
   * Returns available, held and total per asset, read by one statement. (docs/contract.md,
   * Balances)
   */
  async read(
    caller: Caller,
    accountId: Uuid,
    asOf: Instant,
  ): Promise<Readonly<Record<string, unknown>>> {
    const stored = await this.reads.ask({ caller, accountId });
    assertAllowed('readAccount', stored[0]);
    return {
      account_id: accountId,
      balances: ASSETS.map((asset) => {
        const row = stored.find((one) => one.asset === asset);
        const { available, held } =
          row === undefined ? { available: 0n, held: 0n } : parseRow(balances, row);
        const total = available + held;
        return {
          asset,
          available: available.toString(),
          held: held.toString(),
          total: total.toString(),
        };
      }),
      as_of: toRfc3339(asOf),
    };
  }
}

/** Returns for each query the rows of the tenant's own account with the caller's role. */
async function readTogether(
  reader: Reader,
  asked: readonly AskedBalances[],
): Promise<(key: AskedBalances) => readonly StoredRow[]> {
  const ids = literals(accounts, 'id', new Set(asked.map(({ accountId }) => accountId)));
  const members = literals(
    memberRoles,
    'memberId',
    new Set(asked.map(({ caller }) => caller.memberId)),
  );
  const pairs = pairsSql(
    asked.map(({ caller: { tenantId }, accountId }) => ({ tenantId, accountId })),
  );
  const [owned, roles] = await Promise.all([
    reader.query(
      `SELECT a.tenant_id, ${columnList(balances, 'b')} FROM accounts a JOIN balances b ON b.account_id=a.id
       WHERE a.id IN (${ids}) AND (a.tenant_id, a.id) IN (${pairs}) AND a.type<>'system'`,
    ),
    reader.query(
      `SELECT account_id, member_id, role FROM member_roles WHERE account_id IN (${ids}) AND member_id IN (${members})`,
    ),
  ]);
  const byOwner = groupBy(
    owned,
    (row) => `${uuid.parse(row.tenant_id)}|${uuid.parse(row.account_id)}`,
  );
  const role = new Map(
    roles.map((row) => [`${uuid.parse(row.account_id)}|${uuid.parse(row.member_id)}`, row.role]),
  );
  return ({ caller, accountId }) =>
    (byOwner.get(`${caller.tenantId}|${accountId}`) ?? []).map((row) => ({
      ...row,
      caller_role: role.get(`${accountId}|${caller.memberId}`) ?? null,
    }));
}

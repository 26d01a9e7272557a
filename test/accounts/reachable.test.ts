import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readReach } from '../../src/accounts/reachable.js';
import { newId } from '../../src/core/ids.js';
import type { Reader } from '../../src/db/database.js';
import { testDatabase } from '../support/database.js';
import { makeAccount, makeTenant, openWriter, type TestTenant } from '../support/world.js';

const db = await testDatabase();

describe('what a tenant reaches', () => {
  it('a tenant reaches its own accounts and those of its network, and nothing else is read for it', async () => {
    const { writer } = openWriter(db.database);
    const deps = { database: db.database, writer };
    const network = `net-${randomUUID()}`;
    const [one, other, alone, lonely] = (await Promise.all(
      [network, network, null, null].map((name) => makeTenant(db.database, { network: name })),
    )) as [TestTenant, TestTenant, TestTenant, TestTenant];
    const accountIds = new Map(
      await Promise.all(
        [one, other, alone, lonely].map(
          async (of) => [of, (await makeAccount(deps, of)).id] as const,
        ),
      ),
    );
    const answered: unknown[] = [];
    const reader: Pick<Reader, 'query'> = {
      query: async (sql) => {
        const rows = await db.database.reader.query(sql);
        answered.push(...rows);
        return rows;
      },
    };
    const tenants = [one, other, alone, lonely];
    const named = tenants.flatMap(({ tenant: { id: tenantId } }) =>
      [...accountIds.values(), newId()].map((accountId) => ({ tenantId, accountId })),
    );
    const reach = await readReach(reader as Reader, named);
    for (const from of tenants)
      for (const [to, accountId] of accountIds) {
        const { id: tenantId } = from.tenant;
        const isNeighbour = [one, other].includes(from) && [one, other].includes(to);
        assert.equal(reach.owns(tenantId, accountId), from === to);
        assert.equal(reach.reaches(tenantId, accountId), from === to || isNeighbour);
      }
    assert.equal(answered.length, 6, 'four of their own, two of the network');
  });

  it('a request that names no account reads no account', async () => {
    const reach = await readReach(db.database.reader, []);
    assert.equal(reach.owns(newId(), newId()), false);
  });
});

import assert from 'node:assert/strict';
import { createConnection } from 'mysql2/promise';
import type { Uuid } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import { testDatabase } from '../helpers/database.js';
import { move, testKind } from '../helpers/kinds.js';
import { makeAccount, makeTenant, openWriter } from '../helpers/world.js';

const own = await testDatabase();
// Those that stay locked are waited for to the end of it, twice.
const watched = openWriter(own.database, { commandTimeoutMs: 8_000 });

describe('an account whose row another session keeps locked', () => {
  async function twoAccounts(): Promise<[Account, Account]> {
    const deps = { database: own.database, writer: watched.writer };
    const tenant = await makeTenant(own.database);
    const funds = { COPM: 1_000n };
    return [await makeAccount(deps, tenant, { funds }), await makeAccount(deps, tenant, { funds })];
  }

  async function whileLocked(id: Uuid, work: () => Promise<void>): Promise<void> {
    const connection = await createConnection({ uri: own.adminUrl });
    try {
      await connection.query('START TRANSACTION');
      await connection.query(
        `SELECT id FROM accounts WHERE id=X'${id.replaceAll('-', '')}' FOR UPDATE`,
      );
      await work();
    } finally {
      await connection.end();
    }
  }

  it('an account whose row stays locked delays its own commands, and other commands for at most one lock wait', async () => {
    const [lockedFrom, lockedTo] = await twoAccounts();
    const [from, to] = await twoAccounts();
    await whileLocked(lockedFrom.id, async () => {
      const stuck = Array.from({ length: 8 }, () =>
        watched.writer.submit(testKind, move({ from: lockedFrom, to: lockedTo, raw: 1n })),
      );
      for (let round = 0; round < 20; round += 1) {
        const { outcome } = await watched.writer.submit(testKind, move({ from, to, raw: 1n }));
        assert(outcome.done, `round ${round}`);
      }
      for (const { outcome } of await Promise.all(stuck))
        assert(!outcome.done && outcome.refusal.code === 'ledger_unavailable');
    });
    assert((watched.retries.lock_wait ?? 0) > 0);
  });

  it('a command that waits for another account continues once that account is free, although a first account stays locked', async () => {
    const [[lockedFrom, lockedTo], [from, to]] = [await twoAccounts(), await twoAccounts()];
    const submit = (one: Account, other: Account) =>
      watched.writer.submit(testKind, move({ from: one, to: other, raw: 1n }));
    await whileLocked(lockedFrom.id, async () => {
      let waiting: ReturnType<typeof submit>[] = [];
      await whileLocked(from.id, async () => {
        waiting = [submit(lockedFrom, lockedTo), submit(from, to)];
        await new Promise((resolve) => setTimeout(resolve, 2_200));
      });
      const freedAt = performance.now();
      assert((await waiting[1])?.outcome.done);
      assert(performance.now() - freedAt < 400, 'it waited for the account that is still locked');
      const answer = await waiting[0];
      assert(
        answer?.outcome.done === false && answer.outcome.refusal.code === 'ledger_unavailable',
      );
    });
  });

  it('an account whose row stays locked delays no replay of a bound key', async () => {
    const [from, to] = await twoAccounts();
    const bound = [move({ from, to, raw: 1n }), move({ from, to, raw: 2n })];
    for (const command of bound)
      assert((await watched.writer.submit(testKind, command)).outcome.done);
    await whileLocked(from.id, async () => {
      const stuck = watched.writer.submit(testKind, move({ from, to, raw: 1n }));
      for (const command of bound) {
        const { outcome, replayed } = await watched.writer.submit(testKind, command);
        assert(outcome.done && replayed);
      }
      assert.equal((await stuck).outcome.done, false);
    });
  });
});

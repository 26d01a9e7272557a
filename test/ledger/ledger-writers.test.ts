import assert from 'node:assert/strict';
import { LedgerWriters } from '../../src/ledger/writer/ledger-writer.js';
import { testDatabase } from '../support/database.js';
import { move, testKind } from '../support/kinds.js';
import { makeAccount, makeTenant, openWriter } from '../support/world.js';

const db = await testDatabase();

describe('the ledger writers of a process', () => {
  it('the ledger writers of a process have their own queues: what waits at one delays nothing at another', async () => {
    const writers = new LedgerWriters(
      () =>
        openWriter(db.database, { maxGroup: 1, groupsInFlight: 1, commandTimeoutMs: 60_000 })
          .writer,
    );
    const [busy, idle] = [writers.add('busy'), writers.add('idle')];
    const deps = { database: db.database, writer: idle };
    const tenant = await makeTenant(db.database);
    const funds = { COPM: 1_000n };
    const [from, to] = [
      await makeAccount(deps, tenant, { funds }),
      await makeAccount(deps, tenant, { funds }),
    ];
    const others = [
      await makeAccount(deps, tenant, { funds }),
      await makeAccount(deps, tenant),
    ] as const;
    let answered = 0;
    const waiting = Array.from({ length: 60 }, () =>
      busy.submit(testKind, move({ from, to, raw: 1n })).then((answer) => {
        answered += 1;
        return answer;
      }),
    );
    const { outcome } = await idle.submit(
      testKind,
      move({ from: others[0], to: others[1], raw: 1n }),
    );
    assert(outcome.done);
    assert(answered < 15, `${answered} of the other writer came first`);
    await writers.idle();
    assert.equal(answered, 60);
    for (const { outcome: done } of await Promise.all(waiting)) assert(done.done);
  });
});

import assert from 'node:assert/strict';
import type { Uuid } from '../../src/core/ids.js';
import { monthTotals } from '../../src/db/entities/ledger.js';
import type { Account } from '../../src/db/entities/parties.js';
import { type Need, need } from '../../src/ledger/writer/types.js';
import { testDatabase } from '../support/database.js';
import { MONTH, move, SHORT_OF_FUNDS, type TestCommand, testKind } from '../support/kinds.js';
import {
  makeAccount,
  makeTenant,
  openWriter,
  type TestTenant,
  type WatchedWriter,
} from '../support/world.js';

const db = await testDatabase();

describe('a row that commands of one group need', () => {
  let watched: WatchedWriter;
  let tenant: TestTenant;
  let payer: Account;
  let receiver: Account;

  beforeEach(async () => {
    watched = openWriter(db.database);
    const deps = { database: db.database, writer: watched.writer };
    tenant = await makeTenant(db.database);
    payer = await makeAccount(deps, tenant, { funds: { COPM: 1_000n } });
    receiver = await makeAccount(deps, tenant);
    await watched.writer.submit(testKind, move({ from: payer, to: receiver, raw: 7n }));
  });

  /** From here on `groups` counts what is asked next. A group is told after its answers. */
  const freshGroups = async (): Promise<void> => {
    await watched.writer.idle();
    watched.groups.length = 0;
  };

  const whole = (accountId: Uuid): Need =>
    need(monthTotals, { accountId, asset: 'COPM', month: MONTH });
  const byAccount = (accountId: Uuid): Need => need(monthTotals, { accountId });

  /** A move that also looks a month up by what `asked` names, and tells what it saw. */
  const looking = (asked: Need, seen: (bigint | undefined)[]): TestCommand => {
    const command = move({
      from: payer,
      to: receiver,
      raw: 10n,
      spoil: (decision, _, state) => {
        seen.push(state.row(monthTotals, asked.key)?.used);
        return decision;
      },
    });
    return { ...command, needs: [...command.needs, asked] };
  };

  it('a row that commands of one group need is found by each under the properties that it names, in whatever order', async () => {
    for (const asked of [
      [whole(payer.id), byAccount(payer.id)],
      [byAccount(payer.id), whole(payer.id)],
    ]) {
      const { used } = (await db.database.reader.find(monthTotals, { accountId: payer.id })) ?? {
        used: 0n,
      };
      const seen: (bigint | undefined)[] = [];
      await freshGroups();
      const commands = asked.map((one) => looking(one, seen));
      const answers = await Promise.all(
        commands.map((command) => watched.writer.submit(testKind, command)),
      );
      assert(answers.every(({ outcome }) => outcome.done));
      await watched.writer.idle();
      assert.deepEqual(watched.groups, [2]);
      assert.deepEqual(seen, [used, used + 10n]);
    }
    assert.deepEqual(watched.faults, []);
  });

  it('a row that commands of one group need is found where the keys differ in one property, in several, and in none', async () => {
    const of = (accountId: Uuid, month: string): Need =>
      need(monthTotals, { accountId, asset: 'COPM', month });
    await watched.writer.submit(testKind, move({ from: receiver, to: payer, raw: 2n }));
    const used = async (accountId: Uuid): Promise<bigint | undefined> =>
      (await db.database.reader.find(monthTotals, { accountId }))?.used;
    const [ofPayer, ofReceiver] = [await used(payer.id), await used(receiver.id)];
    for (const [asked, expected] of [
      [[of(receiver.id, MONTH)], [ofReceiver]],
      [
        [of(receiver.id, MONTH), of(receiver.id, '2001-01')],
        [ofReceiver, undefined],
      ],
      [
        [of(tenant.owner.id, '2001-01'), of(receiver.id, MONTH)],
        [undefined, ofReceiver],
      ],
    ] as const) {
      const seen: (bigint | undefined)[] = [];
      // The move itself asks for its payer's month.
      const refused = {
        outcome: { done: false, refusal: SHORT_OF_FUNDS },
        writes: {},
        bindsKey: false,
      } as const;
      const command = move({
        from: payer,
        to: receiver,
        raw: 10n,
        spoil: (_decision, _transfer, state) => {
          seen.push(
            state.row(monthTotals, { accountId: payer.id, asset: 'COPM', month: MONTH })?.used,
          );
          seen.push(...asked.map(({ key }) => state.row(monthTotals, key)?.used));
          return refused;
        },
      });
      await watched.writer.submit(testKind, { ...command, needs: [...asked, ...command.needs] });
      assert.deepEqual(seen, [ofPayer, ...expected]);
    }
    assert.deepEqual(watched.faults, []);
  });

  it('a row that commands of one group need is never considered absent if it was not requested: a month changes only if it was read', async () => {
    const unread: TestCommand = { ...move({ from: receiver, to: payer, raw: 1n }), needs: [] };
    await watched.writer.submit(testKind, move({ from: receiver, to: payer, raw: 2n }));
    await freshGroups();
    const [read, refused] = await Promise.all([
      watched.writer.submit(testKind, move({ from: payer, to: receiver, raw: 3n })),
      watched.writer.submit(testKind, unread),
    ]);
    assert(read.outcome.done && !refused.outcome.done);
    await watched.writer.idle();
    assert.deepEqual(watched.groups, [2]);
    assert.match(String(watched.faults[0]?.fault), /a month is changed that was not loaded/);
    const month = await db.database.reader.find(monthTotals, { accountId: receiver.id });
    assert.equal(month?.used, 2n);
  });
});

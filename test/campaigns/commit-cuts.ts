import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Account } from '../../src/db/entities/parties.js';
import type { CommandResult } from '../../src/ledger/writer/types.js';
import { openDatabase, type TestDatabase } from '../support/database.js';
import { move, type TestCommand, testKind } from '../support/kinds.js';
import { type Cut, cutEverySecondCommit, Proxy } from '../support/proxy.js';
import {
  assertLedgerSound,
  balanceOf,
  makeAccount,
  makeTenant,
  openWriter,
} from '../support/world.js';
import type { Transfer } from '../../src/db/entities/operations.js';

interface CommitCutCampaign {
  readonly db: TestDatabase;
  /** How many COMMITs are cut. */
  readonly cuts: number;
  readonly fate: Cut;
}

const WIDTH = 8;

/** An unknown result is looked for as long. What MySQL has answered is found at once, however slow the machine is. */
export const COMMAND_TIMEOUT_MS: Readonly<Record<Cut, number>> = {
  cut_before: 1_000,
  cut_after: 10_000,
  cut_racing: 1_000,
};

/**
 * The connection breaks at COMMIT, before MySQL sees it or before its answer comes. Whatever was answered is true, what is
 * unknown is told by asking again with the same key, and nothing happens twice.
 */
export async function commitCutCampaign({ db, cuts, fate }: CommitCutCampaign): Promise<string> {
  const proxy = await Proxy.open(db.url);
  const database = openDatabase(proxy.through(db.url));
  const safe = { database: db.database, writer: openWriter(db.database).writer };
  const shaky = openWriter(database, { commandTimeoutMs: COMMAND_TIMEOUT_MS[fate] });
  const tenant = await makeTenant(db.database);
  const payer = await makeAccount(safe, tenant, { funds: { COPM: 1_000_000n } });
  const receiver = await makeAccount(safe, tenant);

  const wasNeverSeen = cutEverySecondCommit(proxy, fate);
  const asked: { command: TestCommand; answer: CommandResult<Transfer> }[] = [];
  while (proxy.cuts < cuts) {
    const commands = Array.from({ length: WIDTH }, () =>
      move({ from: payer, to: receiver, raw: 1n }),
    );
    const answers = await Promise.all(
      commands.map((command) => shaky.writer.submit(testKind, command)),
    );
    commands.forEach((command, index) => asked.push({ command, answer: answers[index]! }));
  }
  await shaky.writer.idle();
  const summary = await resolve(asked, safe.writer, wasNeverSeen);
  assert.deepEqual(shaky.faults, []);
  if (fate === 'cut_after') assert.equal(summary.unknown, 0, 'a key that is there was not found');
  await assertMoved(db, payer, receiver, asked.length);
  await assertLedgerSound(db.database);
  await database.close();
  await proxy.close();
  return `${proxy.cuts} COMMITs ${fate}, ${asked.length} transfers: ${summary.unknown} unknown (${summary.unknownButThere} had happened), 0 twice, 0 wrong`;
}

/** Asks again for each: a `done` is a replay with the same id, an unknown one is there or happens now. */
async function resolve(
  asked: readonly { command: TestCommand; answer: CommandResult<Transfer> }[],
  writer: ReturnType<typeof openWriter>['writer'],
  wasNeverSeen: (key: string) => boolean,
): Promise<{ unknown: number; unknownButThere: number }> {
  let unknown = 0;
  let unknownButThere = 0;
  // A few at a time: the desk refuses what its queue does not hold.
  const rest = asked.values();
  const lane = async (): Promise<void> => {
    for (const { command, answer } of rest) {
      const again = await writer.submit(testKind, command);
      assert(again.outcome.done, inspect(again.outcome));
      if (answer.outcome.done) {
        assert(again.replayed, 'what was answered as done was not there');
        assert.equal(again.outcome.resource.id, answer.outcome.resource.id);
        continue;
      }
      assert.equal(answer.outcome.refusal.code, 'ledger_unavailable');
      unknown += 1;
      assert(!(again.replayed && wasNeverSeen(command.key)), 'what MySQL never saw was there');
      if (again.replayed) unknownButThere += 1;
    }
  };
  await Promise.all(Array.from({ length: WIDTH }, lane));
  return { unknown, unknownButThere };
}

async function assertMoved(
  db: TestDatabase,
  payer: Account,
  receiver: Account,
  transfers: number,
): Promise<void> {
  assert.equal((await balanceOf(db.database, receiver.id)).available, BigInt(transfers));
  assert.equal((await balanceOf(db.database, payer.id)).available, 1_000_000n - BigInt(transfers));
}

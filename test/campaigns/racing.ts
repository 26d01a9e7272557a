import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import type { Database } from '../../src/db/database.js';
import { move, testKind } from '../support/kinds.js';
import {
  assertLedgerSound,
  balanceOf,
  makeAccount,
  makeTenant,
  openWriter,
} from '../support/world.js';

interface RacingCampaign {
  /** Each with the connections of a process of its own. */
  readonly databases: readonly Database[];
  readonly transfers: number;
  readonly clients: number;
}

const ACCOUNTS = 4;
const FUNDS = 1_000_000n;

/**
 * Processes move money between the same few accounts in all directions, every third request under a key that another has
 * used. None is answered by a deadlock or a time-out, and no money is made or lost.
 */
export async function racingCampaign({
  databases,
  transfers,
  clients,
}: RacingCampaign): Promise<string> {
  const [database] = databases;
  assert(database !== undefined);
  const watched = databases.map((one) => openWriter(one));
  const deps = { database, writer: watched[0]!.writer };
  const tenant = await makeTenant(database);
  const own = await Promise.all(
    Array.from({ length: ACCOUNTS }, () => makeAccount(deps, tenant, { funds: { COPM: FUNDS } })),
  );
  let next = 0;
  const acted = new Map<string, number>();
  const client = async (): Promise<void> => {
    for (let number = next++; number < transfers; number = next++) {
      const from = own[number % ACCOUNTS]!;
      const to = own[(number + 1 + (Math.trunc(number / ACCOUNTS) % (ACCOUNTS - 1))) % ACCOUNTS]!;
      const command = move({ from, to, raw: BigInt(1 + (number % 50)) });
      const writers = number % 3 === 0 ? watched : [watched[number % watched.length]!];
      for (const { replayed, outcome } of await Promise.all(
        writers.map(({ writer }) => writer.submit(testKind, command)),
      )) {
        assert(outcome.done, inspect(outcome));
        if (!replayed) acted.set(command.key, (acted.get(command.key) ?? 0) + 1);
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  assert.equal(acted.size, transfers);
  assert.deepEqual(new Set(acted.values()), new Set([1]));
  const all = await Promise.all(own.map((account) => balanceOf(database, account.id)));
  assert.equal(
    all.reduce((sum, { available }) => sum + available, 0n),
    FUNDS * BigInt(ACCOUNTS),
  );
  for (const { faults } of watched) assert.deepEqual(faults, []);
  await assertLedgerSound(database);
  const retries = watched
    .map((one) => one.retries.rolled_back ?? 0)
    .reduce((sum, count) => sum + count, 0);
  return `${transfers} transfers among ${ACCOUNTS} accounts by ${clients} clients over ${databases.length} process(es): ${retries} rolled back and tried again, every one answered`;
}

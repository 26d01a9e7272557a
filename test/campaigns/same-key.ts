import assert from 'node:assert/strict';
import type { Database } from '../../src/db/database.js';
import { move, testKind } from '../support/kinds.js';
import {
  assertLedgerSound,
  balanceOf,
  makeAccount,
  makeTenant,
  openWriter,
} from '../support/world.js';

interface SameKeyCampaign {
  /** Each with the connections of a process of its own. */
  readonly databases: readonly Database[];
  readonly rounds: number;
  /** How many ask at the same time. */
  readonly width: number;
}

/** Many ask the same under one key at the same time: exactly one acts, all others get the same resource. */
export async function sameKeyCampaign({
  databases,
  rounds,
  width,
}: SameKeyCampaign): Promise<string> {
  const [database] = databases;
  assert(database !== undefined);
  const writers = databases.map((one) => openWriter(one).writer);
  const deps = { database, writer: writers[0]! };
  const tenant = await makeTenant(database);
  const payer = await makeAccount(deps, tenant, { funds: { COPM: BigInt(rounds) * 3n } });
  const receiver = await makeAccount(deps, tenant);
  for (let round = 0; round < rounds; round += 1) {
    const { key, ...wanted } = move({ from: payer, to: receiver, raw: 3n });
    const answers = await Promise.all(
      Array.from({ length: width }, (_, index) => {
        // Each request has an id of its own for what it would make; only the first one's comes to be.
        const same = move({ from: payer, to: receiver, raw: 3n, key });
        return writers[index % writers.length]!.submit(testKind, { ...wanted, ...same });
      }),
    );
    const ids = new Set(
      answers.map(({ outcome }) =>
        outcome.done ? outcome.resource.id : JSON.stringify(outcome.refusal),
      ),
    );
    assert.deepEqual(
      [ids.size, answers.filter((answer) => !answer.replayed).length],
      [1, 1],
      [...ids].join(),
    );
    assert(answers.every(({ outcome }) => outcome.done));
  }
  assert.deepEqual(await balanceOf(database, payer.id), { available: 0n, held: 0n });
  await assertLedgerSound(database);
  return `${rounds} rounds of ${width} requests with one key over ${writers.length} process(es): one acted in each`;
}

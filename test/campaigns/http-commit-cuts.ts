import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAnswer } from '../support/api.js';
import { answered, type Json, LEAST, openBank, text, transferBody } from '../support/bank.js';
import type { TestDatabase } from '../support/database.js';
import { type Cut, cutEverySecondCommit, Proxy } from '../support/proxy.js';
import { assertLedgerSound } from '../support/world.js';
import { COMMAND_TIMEOUT_MS } from './commit-cuts.js';
import { assertEachOnce } from './http-storms.js';

interface HttpCommitCuts {
  readonly db: TestDatabase;
  /** How many COMMITs are cut. */
  readonly cuts: number;
  readonly fate: Cut;
}

const WIDTH = 8;

/**
 * The connection to MySQL breaks at COMMIT under requests over HTTP. A client is told 201 or 503 and nothing else; 201 is
 * true for ever, and after a 503 the same key gives the transfer that was made, or makes it then: never a second one.
 */
export async function httpCommitCuts({ db, cuts, fate }: HttpCommitCuts): Promise<string> {
  const healthy = await startTestApi(db);
  const proxy = await Proxy.open(db.url);
  const shaky = await startTestApi(
    { url: proxy.through(db.url) },
    { COMMAND_TIMEOUT_MS: COMMAND_TIMEOUT_MS[fate].toString() },
  );
  const bank = await openBank(healthy);
  const [from, to] = [
    await bank.account({ funds: { COPM: 1_000_000n * LEAST } }),
    await bank.account(),
  ];
  const body = transferBody({ from, to, raw: LEAST });
  const { token } = bank;
  const asked: { key: string; answer: TestAnswer }[] = [];
  const wasNeverSeen = cutEverySecondCommit(proxy, fate);
  while (proxy.cuts < cuts)
    await Promise.all(
      Array.from({ length: WIDTH }, async () => {
        const key = randomUUID();
        asked.push({
          key,
          answer: await shaky.request('POST', '/v1/transfers', { token, body, key }),
        });
      }),
    );
  await shaky.stop();
  let [unknown, unknownButThere] = [0, 0];
  const made: Json[] = [];
  const left = asked.values();
  const askAgain = async (): Promise<void> => {
    for (const { key, answer } of left) {
      if (answer.status !== 201) answered(answer, 503, 'ledger_unavailable');
      const again = await bank.request('POST', '/v1/transfers', { body, key });
      if (answer.status === 201) assert.equal(answered(again, 200).text, answer.text);
      else {
        unknown += 1;
        if (wasNeverSeen(key) || again.status !== 200) answered(again, 201);
        else unknownButThere += 1;
      }
      made.push(again.json);
    }
  };
  // All at once, thousands of new connections would be too many for the system to keep waiting.
  await Promise.all(Array.from({ length: WIDTH }, askAgain));
  assert.equal(new Set(made.map(({ id }) => text(id))).size, asked.length);
  assert.equal(await bank.available(to), LEAST * BigInt(asked.length));
  if (fate === 'cut_before') assert(asked.some(({ key }) => wasNeverSeen(key)));
  await assertEachOnce(bank, made);
  await assertLedgerSound(db.database);
  await Promise.all([proxy.close(), healthy.stop()]);
  return `${proxy.cuts} COMMITs ${fate} under HTTP, ${asked.length} transfers: ${unknown} unknown (${unknownButThere} had happened), 0 twice, 0 wrong`;
}

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { startTestApi, type TestAnswer } from '../helpers/api.js';
import { answered, type Json, LEAST, openBank, transferBody } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { type Cut, cutEverySecondCommit, Proxy } from '../helpers/proxy.js';
import { assertLedgerSound } from '../helpers/world.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { assertEachOnce } from './storms.js';

interface CommitCuts {
  readonly db: TestDatabase;
  /** How many COMMITs are cut. */
  readonly cuts: number;
  readonly fate: Cut;
}

const WIDTH = 8;
const MOMENTS: Readonly<Record<Cut, string>> = {
  cut_before: 'before COMMIT',
  cut_after: 'after COMMIT',
  cut_racing: 'during COMMIT',
};

/** How long an unknown result is looked up. What MySQL has answered is found at once, however slow the machine is. */
const COMMAND_TIMEOUT_MS: Readonly<Record<Cut, string>> = {
  cut_before: '1000',
  cut_after: '10000',
  cut_racing: '1000',
};

/**
 * The connection to MySQL breaks at COMMIT. A client gets 201 or 503 and nothing else; 201 is true for ever, and after a 503
 * the same key returns the transfer that was made, or makes it then, never a second one.
 */
export function commitCuts({ db, cuts, fate }: CommitCuts): Promise<string> {
  return withCleanup(async (open) => {
    const healthy = await open(startTestApi(db), (own) => own.stop());
    const proxy = await open(Proxy.open(db.url), (own) => own.close());
    const environment = { COMMAND_TIMEOUT_MS: COMMAND_TIMEOUT_MS[fate] };
    const shaky = await open(startTestApi({ url: proxy.through(db.url) }, environment), (own) =>
      own.stop(),
    );
    const bank = await openBank(healthy);
    const funds = { COPM: 1_000_000n * LEAST };
    const [from, to] = [await bank.account({ funds }), await bank.account()];
    const body = transferBody({ from, to, raw: LEAST });
    const asked: { key: string; answer: TestAnswer }[] = [];
    const ask = async (): Promise<void> => {
      const key = randomUUID();
      const options = { token: bank.token, body, key };
      asked.push({ key, answer: await shaky.request('POST', '/v1/transfers', options) });
    };
    const wasNeverSeen = cutEverySecondCommit(proxy, fate);
    while (proxy.cuts < cuts) await Promise.all(Array.from({ length: WIDTH }, ask));
    await shaky.stop();
    const counts = { unknown: 0, happened: 0 };
    const made: Json[] = [];
    const left = asked.values();
    const askAgain = async (): Promise<void> => {
      for (const { key, answer } of left) {
        if (answer.status !== 201) answered(answer, 503, 'ledger_unavailable');
        const again = await bank.request('POST', '/v1/transfers', { body, key });
        made.push(again.json);
        if (answer.status === 201) {
          assert.equal(answered(again, 200).text, answer.text);
          continue;
        }
        counts.unknown += 1;
        if (wasNeverSeen(key) || again.status !== 200) answered(again, 201);
        else counts.happened += 1;
      }
    };
    // If all were sent at once, the system could not queue thousands of new connections.
    await Promise.all(Array.from({ length: WIDTH }, askAgain));
    if (fate === 'cut_after') assert.equal(counts.unknown, 0, 'a key that is there was not found');
    if (fate === 'cut_before') assert(asked.some(({ key }) => wasNeverSeen(key)));
    assert.equal(await bank.available(to), LEAST * BigInt(asked.length));
    await assertEachOnce(bank, made);
    await assertLedgerSound(db.database);
    return `${proxy.cuts} connections cut ${MOMENTS[fate]}, ${asked.length} transfers: ${counts.unknown} with an unknown result (${counts.happened} of them had been made), 0 made twice, 0 wrong responses`;
  });
}

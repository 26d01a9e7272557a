import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { request, startTestApi, type TestApi } from '../helpers/api.js';
import { ApiProcess } from '../helpers/api-process.js';
import { answered, type Bank, type Json, LEAST, openBank } from '../helpers/bank.js';
import { BatchWorld, payroll } from '../batches/support.js';
import type { TestDatabase } from '../helpers/database.js';
import { percentile } from '../helpers/percentile.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { assertLedgerSound } from '../helpers/world.js';

interface GreedyReader {
  readonly db: TestDatabase;
  /** Of each of two batches that pay the same accounts under the same references. */
  readonly rows: number;
  /** Of the greedy token, for the first batch. */
  readonly requests: number;
  readonly perSecond: number;
  /** Whether the p99 of the other tenant must at most double. */
  readonly isTimed: boolean;
}

const ROWS_PER_STATEMENT = 2_000;
/** Of a request for the batch, without a computation: the batch, balance, account, and stored result. */
const GREEDY_STATEMENTS = 4;
/** Of a request of the other tenant, on average over its paths. */
const OTHER_STATEMENTS = 2;
const KEPT_MS = 3_000;
/** Of a calm reading on a busy machine, below which a p99 says nothing. */
const LEAST_P99_MS = 5;

/**
 * One token reads a large ready batch many times a second, while another tenant reads its account, transfers and balances. The earlier
 * payments are computed once for all readers, and no read of the other tenant fails or waits.
 */
export function greedyReader(wanted: GreedyReader): Promise<string> {
  const { db, rows, requests, perSecond, isTimed } = wanted;
  return withCleanup(async (open) => {
    const making = await open(startTestApi(db), (own) => own.stop());
    const [greedy, other] = [await openBank(making), await openBank(making)];
    const path = await makeBatches(greedy, rows);
    const paths = await makeTransfer(other);
    // A process has the time limits of production, which a busy machine may exceed.
    const api = isTimed ? await open(ApiProcess.start(db.url), (own) => own.stop()) : making;
    const read = (bank: Bank, url: string) =>
      request(api.baseUrl, 'GET', url, { token: bank.token });
    for (const url of [path, ...paths])
      answered(await read(url === path ? greedy : other, url), 200);

    const readOther = async (until: Promise<unknown>): Promise<number[]> => {
      const state = { isOver: false };
      const over = until.finally(() => (state.isOver = true));
      const tookMs: number[] = [];
      do {
        for (const url of paths) {
          const beganAt = performance.now();
          answered(await read(other, url), 200);
          tookMs.push(performance.now() - beganAt);
        }
      } while (!state.isOver);
      await over;
      return tookMs;
    };
    const calm = await readOther(sleep((requests / perSecond) * 1_000));
    const before = await statements(api);
    const beganAt = performance.now();
    const beside = await readOther(
      Promise.all(
        Array.from({ length: requests }, async (_each, index) => {
          await sleep((index / perSecond) * 1_000);
          const { json } = answered(await read(greedy, path), 200);
          assert.equal((json.earlier_payments as Json).count, rows);
        }),
      ),
    );
    const elapsedMs = performance.now() - beganAt;
    const computed =
      (await statements(api)) -
      before -
      GREEDY_STATEMENTS * requests -
      OTHER_STATEMENTS * beside.length;
    const most = (2 + elapsedMs / KEPT_MS) * (2 + Math.ceil(rows / ROWS_PER_STATEMENT));
    assert(computed <= most, `${computed} statements computed earlier payments`);
    const [calmMs, besideMs] = [calm, beside].map((all) => percentile(all, 0.99));
    const times = `p99 ${calmMs!.toFixed(1)} → ${besideMs!.toFixed(1)} ms`;
    if (isTimed) assert(besideMs! <= 2 * Math.max(calmMs!, LEAST_P99_MS), times);
    await assertLedgerSound(db.database);
    return `${requests} requests of one token for a batch of ${rows} rows, ${perSecond} a second: no read of another tenant failed, and its ${times}`;
  });
}

/** Returns the path of the first batch. */
async function makeBatches(bank: Bank, rows: number): Promise<string> {
  const [payer, person] = [await bank.account(), await bank.account({ type: 'person' })];
  const batches = BatchWorld.of(bank);
  const cells = Array.from({ length: rows }, (_, row) => [
    person.id,
    LEAST.toString(),
    'COPM',
    null,
    `PAY-${row}`,
  ]);
  const { id } = await batches.ready(payer, payroll(cells));
  await batches.ready(payer, payroll(cells));
  await bank.api.core.database.withTransaction((transaction) =>
    transaction.execute('UPDATE batch_storage SET earlier_payments_at=NULL'),
  );
  return `/v1/bonus_batches/${id}`;
}

/** Returns the paths that the other tenant reads. */
async function makeTransfer(bank: Bank): Promise<readonly string[]> {
  const from = await bank.account({ funds: { COPM: 10n * LEAST } });
  await bank.sent({ from, to: await bank.account(), raw: LEAST });
  const account = `/v1/accounts/${from.id}`;
  return [account, `${account}/balances`, `${account}/movements`, '/v1/transfers'];
}

/** Returns how many statements the API has sent on its connections for reads. */
async function statements({ adminUrl }: Pick<TestApi, 'adminUrl'>): Promise<number> {
  const shown = /^mysql_statement_seconds_count\{pool="reads",kind="read"\} (\d+)/m.exec(
    await (await fetch(`${adminUrl}/metrics`)).text(),
  );
  return Number(shown?.[1] ?? 0);
}

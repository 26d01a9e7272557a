import assert from 'node:assert/strict';
import type { PaymentEnd } from '../../src/batches/execution.js';
import { BatchWorld, payroll } from '../batches/support.js';
import { LEAST } from '../support/bank.js';
import { openDatabase, type TestDatabase } from '../support/database.js';
import { isCommit, Proxy } from '../support/proxy.js';
import { assertLedgerSound, balanceOf } from '../support/world.js';

interface BatchCuts {
  readonly db: TestDatabase;
  readonly rows: number;
  /** The connection is cut at each COMMIT of which the number is a multiple of this. */
  readonly every: number;
  /** A call is cut off when it has settled about so many rows. */
  readonly settled: number;
}

const FATES = ['cut_before', 'cut_after', 'cut_racing'] as const;

/** A batch whose payment is interrupted again and again, by connections that break at COMMIT and by calls that are cut off. */
export async function batchCuts({ db, rows, every, settled }: BatchCuts): Promise<string> {
  const amounts = Array.from({ length: rows }, (_, index) => LEAST + BigInt(index));
  const proxy = await Proxy.open(db.url);
  const database = openDatabase(proxy.through(db.url));
  try {
    const world = await BatchWorld.open(db, { database, writer: { commandTimeoutMs: 2_000 } });
    const ana = await world.account({ alias: '$ana' });
    const payer = await world.account({ funds: { COPM: 100_000n * LEAST } });
    const batch = await world.executed(
      payer,
      payroll(amounts.map((raw) => ['$ana', raw.toString(), 'COPM'])),
    );
    let commits = 0;
    proxy.fateOf = (data) =>
      isCommit(data) && (commits += 1) % every === 0 ? FATES[(commits / every) % 3]! : 'pass';
    let calls = 0;
    for (let end: PaymentEnd = 'cut_off'; end !== 'over'; calls += 1) {
      const abort = new AbortController();
      const heartbeat = (done: number): void => {
        if (done >= settled * (1 + (calls % 7) / 15)) abort.abort();
      };
      end = await world.pay(batch, { signal: abort.signal, heartbeat });
    }
    proxy.fateOf = () => 'pass';
    const now = await world.batch(batch.id);
    assert.deepEqual([now.status, now.rowsPaid, now.rowsFailed], ['completed', rows, 0]);
    const sum = amounts.reduce((total, raw) => total + raw, 0n);
    assert.equal((await balanceOf(db.database, ana.id)).available, sum);
    assert.deepEqual(await world.events(), ['bonus_batch.ready', 'bonus_batch.completed']);
    assert(proxy.cuts >= 5, `${proxy.cuts} cuts`);
    await assertLedgerSound(db.database);
    return `${rows} rows paid over ${proxy.cuts} cut connections in ${calls} calls, most of them cut off: each once, to the last unit`;
  } finally {
    await database.close();
    await proxy.close();
  }
}

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { eachAsset } from '../../src/core/amount.js';
import {
  type Clock,
  type Instant,
  instant,
  systemClock,
  toRfc3339,
} from '../../src/core/instant.js';
import type { Database } from '../../src/db/database.js';
import { type Account } from '../../src/db/entities/parties.js';
import { DatabaseClock } from '../../src/ledger/database-clock.js';
import { readTotalsAt } from '../../src/ops/commands/reports.js';
import { startTestApi } from '../helpers/api.js';
import {
  answered,
  type Bank,
  type Json,
  LEAST,
  list,
  object,
  openBank,
  text,
  walk,
} from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { fund, openWriter } from '../helpers/world.js';

const START = Date.parse('2032-05-01T12:00:00.000Z');
const HOUR_MS = 3_600_000;

/** The database's clock as two commits see it within one millisecond. */
class SameMoment extends DatabaseClock {
  constructor(private readonly moment: Instant) {
    super();
  }

  override parseReading(): Instant {
    return this.moment;
  }
}

const NOTHING = eachAsset(() => '0');

const db = await testDatabase();
let now = instant(START);
const api = await startTestApi(db, {}, { clock: () => now });
const bank = await openBank(api);

describe('GET /v1/accounts/{account_id}/balances?at=', () => {
  let payer: Account;
  let person: Account;

  const ask = (
    account: Pick<Account, 'id'>,
    at: string,
    options = {},
  ): ReturnType<Bank['request']> =>
    bank.request(
      'GET',
      `/v1/accounts/${account.id}/balances?at=${encodeURIComponent(at)}`,
      options,
    );
  const totals = async (
    account: Pick<Account, 'id'>,
    at: Instant,
  ): Promise<Record<string, string>> => {
    const { json } = answered(await ask(account, toRfc3339(at)), 200);
    assert.deepEqual([json.account_id, json.as_of], [account.id, toRfc3339(at)]);
    return Object.fromEntries(
      list(json.balances).map((one) => {
        assert.deepEqual(Object.keys(one).sort(), ['asset', 'total']);
        return [text(one.asset), text(one.total)];
      }),
    );
  };
  const movementsOf = (account: Account): Promise<Json[]> =>
    walk(bank, `/v1/accounts/${account.id}/movements?limit=100`);

  /** The sum of the movements up to then. */
  function added(movements: readonly Json[], at: Instant): Record<string, string> {
    const sums: Record<string, bigint> = eachAsset(() => 0n);
    for (const { kind, amount, created_at: created } of movements) {
      const { raw, asset } = object(amount);
      if (text(created) > toRfc3339(at)) continue;
      sums[text(asset)]! += text(kind).endsWith('_in') ? BigInt(text(raw)) : -BigInt(text(raw));
    }
    return Object.fromEntries(Object.entries(sums).map(([asset, sum]) => [asset, sum.toString()]));
  }

  before(async () => {
    payer = await bank.account();
    person = await bank.account({ type: 'person' });
    for (let step = 0; step < 60; step += 1) {
      now = instant(START + Math.trunc(step / 3));
      const asset = step % 4 === 0 ? 'DUSD' : 'COPM';
      if (step < 5 || step % 7 === 0)
        await bank.fund(payer, { raw: 50n * LEAST + BigInt(step), asset });
      else await bank.sent({ from: payer, to: person, raw: LEAST + BigInt(step), asset });
    }
    now = instant(START + HOUR_MS);
  });

  it('gives, for any moment, the sum of all movements dated at or before it', async () => {
    for (const account of [payer, person]) {
      const movements = await movementsOf(account);
      for (let offset = -2; offset < 25; offset += 1) {
        const at = instant(START + offset);
        assert.deepEqual(await totals(account, at), added(movements, at));
      }
    }
  });

  it('each movement has the total of its asset after it', async () => {
    const running: Record<string, bigint> = eachAsset(() => 0n);
    for (const { kind, amount, total_after: after } of (await movementsOf(payer)).reverse()) {
      const { raw, asset } = object(amount);
      running[text(asset)]! += text(kind).endsWith('_in') ? BigInt(text(raw)) : -BigInt(text(raw));
      assert.deepEqual(after, { raw: running[text(asset)]!.toString(), asset });
    }
  });

  it('returns the same totals after later postings', async () => {
    const at = instant(now - 15_000);
    const before = await totals(payer, at);
    await bank.fund(payer, { raw: 1n, asset: 'COPM' });
    assert.deepEqual(await totals(payer, at), before);
  });

  /** Pays in 7 by that clock, and commits it only when `work` is done. */
  async function whileCommitting(
    account: Account,
    clock: Clock | DatabaseClock,
    work: () => Promise<void>,
  ): Promise<void> {
    const moments = new EventEmitter();
    const [written, goesOn] = [once(moments, 'written'), once(moments, 'goes on')];
    const slow = Object.create(db.database, {
      withPosting: {
        value: (...[act, ...others]: Parameters<Database['withPosting']>): Promise<unknown> =>
          db.database.withPosting(
            async (transaction) => {
              const answer = await act(transaction);
              moments.emit('written');
              await goesOn;
              return answer;
            },
            ...others,
          ),
      },
    }) as Database;
    const { writer } = openWriter(slow, {}, clock);
    const posted = fund({ database: db.database, writer }, account, { raw: 7n, asset: 'COPM' });
    await written;
    try {
      await work();
    } finally {
      moments.emit('goes on');
      await posted;
    }
  }

  it('and the trial balance wait for a commit in progress, however long it takes', async () => {
    const account = await bank.account();
    now = instant(now + HOUR_MS);
    const at = now;
    let asked: Promise<unknown> = Promise.resolve();
    let reported: Promise<unknown> = Promise.resolve();
    const accountsTotal = async () =>
      (await readTotalsAt(db.database, at)).of(account.tenantId, 'accounts', 'COPM');
    await whileCommitting(
      account,
      () => at,
      async () => {
        now = instant(now + HOUR_MS);
        asked = totals(account, at);
        reported = accountsTotal();
        await Promise.race([
          Promise.all([asked, reported]),
          new Promise((resolve) => setTimeout(resolve, 300)),
        ]);
      },
    );
    assert.deepEqual(await asked, { ...NOTHING, COPM: '7' });
    assert.equal(await reported, await accountsTotal());
  });

  it('the current balances plus all movements dated later than as_of are the balances at any later time, also if a commit was in progress or several have the same millisecond', async () => {
    const liveApi = await startTestApi(db);
    const live = await openBank(liveApi);
    const account = await live.account();
    const path = `/v1/accounts/${account.id}`;
    const read = async () => answered(await live.get(`${path}/balances`), 200).json;
    const readings = [await read()];
    const frozen = systemClock();
    const same = openWriter(db.database, {}, new SameMoment(frozen));
    for (let round = 0; round < 3; round += 1) {
      await fund({ ...same, database: db.database }, account, { raw: 1n, asset: 'COPM' });
      readings.push(await read());
    }
    await whileCommitting(account, new DatabaseClock(), async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      readings.push(await read());
    });
    readings.push(await read());
    const movements = await walk(live, `${path}/movements?limit=100`);
    assert.equal(movements.length, 4);
    for (const { balances, as_of: asOf } of readings)
      assert.equal(
        list(balances).find(({ asset }) => asset === 'COPM')?.total,
        added(movements, instant(Date.parse(text(asOf)))).COPM,
        text(asOf),
      );
    await liveApi.stop();
  });

  it('refuses text that is not an RFC 3339 date-time, and cuts it to milliseconds', async () => {
    const { json } = answered(await ask(payer, '2032-05-01T07:00:00.0029-05:00'), 200);
    assert.equal(json.as_of, '2032-05-01T12:00:00.002Z');
    for (const at of ['', 'x', '2032-05-01', '2032-13-01T00:00:00Z', '1746100800000']) {
      const { details } = answered(await ask(payer, at), 400, 'invalid_field');
      assert.deepEqual([details?.field, details?.reason], ['at', 'not_a_date_time']);
    }
  });

  it('refuses the future, the last 15 seconds, and times before the opening', async () => {
    const reason = async (at: number): Promise<unknown> =>
      answered(await ask(payer, toRfc3339(instant(at))), 400, 'invalid_field').details?.reason;
    assert.equal(await reason(now + 1), 'in_the_future');
    assert.equal(await reason(now), 'too_recent');
    assert.equal(await reason(now - 14_999), 'too_recent');
    assert.equal(await reason(payer.createdAt - 1), 'before_opening');
    assert.equal(await reason(0), 'before_opening');
    assert.deepEqual(await totals(payer, payer.createdAt), NOTHING);
    const twice = `/v1/accounts/${payer.id}/balances?at=${toRfc3339(instant(START))}&at=${toRfc3339(instant(START))}`;
    answered(await bank.get(twice), 400, 'invalid_field');
  });
});

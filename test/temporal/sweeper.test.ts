import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { string } from '../../src/db/columns.js';
import type { Database } from '../../src/db/database.js';
import type { Sweep } from '../../src/temporal/sweeper.js';
import { idLiteral } from '../helpers/bank.js';
import { openDatabase, testDatabase } from '../helpers/database.js';
import { Proxy } from '../helpers/proxy.js';
import { type ObservedSweeper, sweeperOf } from '../helpers/sweepers.js';
import { until } from '../helpers/temporal.js';

const NAMES = ['one', 'two', 'three'];
const TAKEN_OVER_MS = 10_000;
/** Longer than a process keeps a lease without renewing it. */
const FROZEN_MS = 4_000;

/** A worker process as far as sweeps go, with connections of its own. */
interface Own extends ObservedSweeper {
  readonly database: Database;
}

const db = await testDatabase();

describe('a sweep that several workers can run', () => {
  const opened: Own[] = [];

  afterEach(async () => {
    await Promise.all(opened.map(({ sweeper }) => sweeper.stop()));
    await Promise.all(opened.splice(0).map(({ database }) => database.close()));
    await db.sql('DELETE FROM sweep_leases');
  });

  function open(sweeps: readonly Sweep[], url = db.url, beforeRenewal?: () => Promise<void>): Own {
    const database = openDatabase(url);
    const own = { database, ...sweeperOf(database, sweeps, beforeRenewal) };
    own.sweeper.start();
    opened.push(own);
    return own;
  }
  const idle = (name: string): Sweep => ({ name, everyMs: 50, run: () => Promise.resolve(false) });
  const held = async ({ sweeper }: Own): Promise<string[]> => {
    const rows = await db.database.reader.query(
      `SELECT name FROM sweep_leases WHERE holder=${idLiteral(sweeper.workerId)} AND lease_until>UTC_TIMESTAMP(3)`,
    );
    return rows.map((row) => string.parse(row.name));
  };
  const untilAllHeld = (own: Own): Promise<unknown> =>
    until('it has all of them', async () => (await held(own)).length === NAMES.length, {
      limitMs: TAKEN_OVER_MS,
    });

  /** Many more rounds, in which another process could have taken a sweep. */
  const sweepsOn = ({ swept }: Own): Promise<unknown> => {
    const before = swept.length;
    return until('it sweeps on', () => swept.length > before + 20 * NAMES.length);
  };

  it('is run by one of them at a time, whichever workers start and stop', async () => {
    const counts = new Map<string, number>();
    let most = 0;
    const sweeps = NAMES.map((name): Sweep => {
      const run = async (): Promise<boolean> => {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        most = Math.max(most, counts.get(name)!);
        await sleep(10);
        counts.set(name, counts.get(name)! - 1);
        return false;
      };
      return { name, everyMs: 50, run };
    });
    const first = open(sweeps);
    await until('the first sweeps', () => first.swept.length > 10);
    const second = open(sweeps);
    await sweepsOn(first);
    await first.sweeper.stop();
    const before = first.swept.length;
    await until('the second sweeps', () => second.swept.length > 10);
    const third = open(sweeps);
    await sweepsOn(second);
    assert.deepEqual([first.swept.length, third.swept.length], [before, 0]);
    assert.equal(most, 1, 'two did one at the same time');
  });

  it('is taken over within ten seconds of a crash, and at once if its process stopped', async () => {
    const proxy = await Proxy.open(db.url);
    const stopping = open(NAMES.map(idle));
    await untilAllHeld(stopping);
    const dying = open(NAMES.map(idle), proxy.through(db.url));
    await stopping.sweeper.stop();
    const stoppedAt = performance.now();
    await untilAllHeld(dying);
    assert(performance.now() - stoppedAt < 3_500, 'it was not given back');
    const heir = open(NAMES.map(idle));
    proxy.stall();
    const diedAt = performance.now();
    await untilAllHeld(heir);
    assert(performance.now() - diedAt < TAKEN_OVER_MS);
    await until('the heir sweeps', () => NAMES.every((name) => heir.swept.includes(name)));
    proxy.resume();
    await dying.sweeper.stop();
    await proxy.close();
  });

  it('is not continued by a process that was frozen until its lease had expired', async () => {
    let rounds = 0;
    const run = async (): Promise<boolean> => {
      rounds += 1;
      if (rounds > 1) return false;
      await db.sql(
        "UPDATE sweep_leases SET holder=UNHEX(REPLACE(UUID(),'-','')), lease_until='2999-01-01'",
      );
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FROZEN_MS);
      return true;
    };
    const frozen = open([{ name: 'one', everyMs: 50, run }]);
    await until('its lease is lost', () => frozen.lost.length > 0);
    await sleep(1_500);
    assert.equal(rounds, 1);
  });

  it('is claimed again by a running process whose lease row was lost, as in a restore of the database', async () => {
    const own = open(NAMES.map(idle));
    await untilAllHeld(own);
    await db.sql("UPDATE sweep_leases SET holder=NULL, lease_until='2026-01-01'");
    await untilAllHeld(own);
    await db.sql(`DELETE FROM sweep_leases WHERE name='${NAMES[0]}'`);
    await untilAllHeld(own);
    await db.sql('DELETE FROM sweep_leases');
    await untilAllHeld(own);
    own.swept.length = 0;
    await until('it sweeps', () => NAMES.every((name) => own.swept.includes(name)));
  });

  it('is repeated after a failure, and stops no other', async () => {
    const failing: Sweep = { ...idle('one'), run: () => Promise.reject(new Error('a bug')) };
    const own = open([failing, idle('two')]);
    await until('it has failed', () => own.failed.length > 3);
    own.swept.length = 0;
    await until('the other goes on', () => own.swept.length > 3);
    assert.deepEqual(
      [new Set(own.failed), new Set(own.swept)],
      [new Set(['one']), new Set(['two'])],
    );
  });
});

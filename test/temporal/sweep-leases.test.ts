import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/db/database.js';
import { readSweeps } from '../../src/temporal/reading-leases.js';
import { SweepLeases } from '../../src/temporal/sweep-leases.js';
import { type SharedSweep, type Sweep, Sweeper } from '../../src/temporal/sweeper.js';
import { openDatabase, type TestDatabase, testDatabase } from '../support/database.js';
import { leasesOf } from '../support/leases.js';
import { Proxy } from '../support/proxy.js';
import { until } from '../support/temporal.js';

/** So many that each process has some: who has which is drawn. */
const NAMES = Array.from({ length: 60 }, (_, number) => `shared ${number}`);
const TAKEN_OVER_MS = 10_000;

/** A worker process as far as sweeps go, with connections of its own. */
interface Own {
  readonly leases: SweepLeases;
  readonly database: Database;
  readonly lost: string[];
}

describe('a sweep that several worker processes know', () => {
  let db: TestDatabase;
  const opened: Own[] = [];

  before(async () => {
    db = await testDatabase();
  });
  afterEach(async () => {
    await Promise.all(opened.map(({ leases }) => leases.stop()));
    await Promise.all(opened.splice(0).map(({ database }) => database.close()));
    await db.sql('DELETE FROM sweep_leases');
    await db.sql('DELETE FROM sweep_workers');
  });

  function open(names = NAMES, url = db.url): Own {
    const database = openDatabase(url);
    const lost: string[] = [];
    const observer = {
      failed: () => undefined,
      lost: (name: string) => void lost.push(name),
      holds: () => undefined,
    };
    const leases = new SweepLeases(database, names, `test:${opened.length}`, observer);
    leases.start();
    const own = { leases, database, lost };
    opened.push(own);
    return own;
  }
  const held = async ({ leases }: Own): Promise<string[]> =>
    (await readSweeps(db.database.reader))
      .filter(({ worker }) => worker?.id === leases.workerId)
      .map(({ name }) => name);
  const untilAllHeld = (...owns: readonly Own[]): Promise<unknown> =>
    until('all are held', async () => {
      const counts = await Promise.all(owns.map(async (own) => (await held(own)).length));
      return (
        counts.every((count) => count > 0) &&
        counts.reduce((sum, count) => sum + count) === NAMES.length
      );
    });

  it('is done by one of them at a time, whichever come and go', async () => {
    const counts = new Map<string, number>();
    let most = 0;
    const sweeps: (Sweep | SharedSweep)[] = NAMES.map((name) => ({
      name,
      everyMs: 50,
      run: async () => {
        counts.set(name, (counts.get(name) ?? 0) + 1);
        most = Math.max(most, counts.get(name)!);
        await sleep(10);
        counts.set(name, counts.get(name)! - 1);
        return false;
      },
    }));
    const rounds = new Map<string, number>();
    const begin = (): { sweeper: Sweeper; database: Database; label: string } => {
      const database = openDatabase(db.url);
      const label = `sweeper ${rounds.size}`;
      rounds.set(label, 0);
      const swept = (): void => void rounds.set(label, rounds.get(label)! + 1);
      const sweeper = new Sweeper(
        sweeps,
        { failed: () => undefined, swept },
        leasesOf(database, sweeps, label),
      );
      sweeper.start();
      return { sweeper, database, label };
    };
    const [first, second] = [begin(), begin()];
    await until('both sweep', () => [...rounds.values()].every((count) => count > 10));
    const third = begin();
    await until('the third sweeps', () => rounds.get(third.label)! > 10);
    await first.sweeper.stop();
    const before = rounds.get(first.label);
    await sleep(1_500);
    assert.equal(rounds.get(first.label), before);
    assert.equal(most, 1, 'two did one at the same time');
    await Promise.all([second.sweeper.stop(), third.sweeper.stop()]);
    await Promise.all([first, second, third].map(({ database }) => database.close()));
  });

  it('is shared by parts, each held by one of them', async () => {
    const seen = new Map<string, Set<number>>();
    const sweep: SharedSweep = {
      name: 'parted',
      shards: 60,
      everyMs: 5,
      run: () => Promise.resolve(false),
    };
    const sweepers = ['a', 'b'].map((label) => {
      const database = openDatabase(db.url);
      const own = new Set<number>();
      seen.set(label, own);
      const run: SharedSweep['run'] = (_, shards) => {
        own.clear();
        shards.forEach((shard) => own.add(shard));
        return Promise.resolve(false);
      };
      const unobserved = { failed: () => undefined, swept: () => undefined };
      const sweeper = new Sweeper(
        [{ ...sweep, run }],
        unobserved,
        leasesOf(database, [sweep], label),
      );
      sweeper.start();
      return { sweeper, database };
    });
    const all = (): number[] =>
      [...seen.values()].flatMap((own) => [...own]).sort((one, other) => one - other);
    await until(
      'each has some',
      () => [...seen.values()].every((own) => own.size > 0) && all().length === 60,
    );
    assert.deepEqual(all(), [...NAMES.keys()]);
    for (const { sweeper, database } of sweepers) {
      await sweeper.stop();
      await database.close();
    }
  });

  it('is taken over within ten seconds of a crash, and at once if its process stopped', async () => {
    const proxy = await Proxy.open(db.url);
    const [dying, stopping, heir] = [open(NAMES, proxy.through(db.url)), open(), open()];
    await untilAllHeld(dying, stopping, heir);
    await stopping.leases.stop();
    const stoppedAt = performance.now();
    await until('what it had is with the others', async () => {
      const [one, other] = await Promise.all([held(dying), held(heir)]);
      return one.length + other.length === NAMES.length;
    });
    assert(performance.now() - stoppedAt < 3_500, 'it was not given back');
    proxy.stall();
    const diedAt = performance.now();
    await until('the heir has all', async () => (await held(heir)).length === NAMES.length, {
      limitMs: TAKEN_OVER_MS,
    });
    assert(performance.now() - diedAt < TAKEN_OVER_MS);
    proxy.resume();
    await dying.leases.stop();
    await proxy.close();
  });

  it('is given up by a process that cannot renew it, before another one has it', async () => {
    const proxy = await Proxy.open(db.url);
    const cutOff = open(NAMES, proxy.through(db.url));
    await until('it has all of them', async () => (await held(cutOff)).length === NAMES.length);
    const turn = await cutOff.leases.turn(NAMES);
    assert(turn !== null);
    const other = open();
    proxy.stall();
    await until('its round is to end', () => turn.signal.aborted);
    assert.deepEqual(await held(other), []);
    assert(cutOff.lost.length > 0);
    turn.end();
    proxy.resume();
    await cutOff.leases.stop();
    await proxy.close();
  });

  it('is taken again by a process that keeps running while its rows are lost, as when a database is restored', async () => {
    const own = open();
    await untilAllHeld(own);
    await db.sql('DELETE FROM sweep_workers');
    await db.sql("UPDATE sweep_leases SET holder=NULL, lease_until='2026-01-01'");
    await untilAllHeld(own);
    await db.sql(`DELETE FROM sweep_leases WHERE name='${NAMES[0]}'`);
    await untilAllHeld(own);
    await db.sql('DELETE FROM sweep_workers');
    await db.sql('DELETE FROM sweep_leases');
    await untilAllHeld(own);
    const turn = await own.leases.turn(NAMES);
    assert.equal(turn?.names.length, NAMES.length);
    turn.end();
  });

  it('begins no round before what a round waits for is there', async () => {
    const database = openDatabase(db.url);
    const told: string[] = [];
    const sweep: Sweep = {
      name: 'patient',
      everyMs: 5,
      run: () => Promise.resolve(told.push('round') < 0),
    };
    const observer = { failed: () => void told.push('failed'), swept: () => undefined };
    let failures = 2;
    const prepare = (): Promise<void> =>
      failures-- > 0 ? Promise.reject(new Error('not yet')) : Promise.resolve();
    const sweeper = new Sweeper([sweep], observer, leasesOf(database, [sweep], 'patient'), prepare);
    sweeper.start();
    await until('it has begun', () => told.includes('round'));
    await sweeper.stop();
    await database.close();
    assert.deepEqual(told.slice(0, 3), ['failed', 'failed', 'round']);
  });

  it('is done by every process if it says so, even if no lease can be had', async () => {
    const done = new Map<string, number>();
    const processes = ['a', 'b'].map((label) => {
      const database = openDatabase(db.url);
      const run = (): Promise<boolean> => {
        done.set(label, (done.get(label) ?? 0) + 1);
        return Promise.resolve(false);
      };
      const sweeps: Sweep[] = [{ name: 'in each', everyMs: 20, inEach: true, run }];
      const sweeper = new Sweeper(
        sweeps,
        { failed: () => undefined, swept: () => undefined },
        leasesOf(database, sweeps, label),
      );
      sweeper.start();
      return { sweeper, database };
    });
    await until('both have done it', () => ['a', 'b'].every((label) => (done.get(label) ?? 0) > 5));
    for (const { sweeper, database } of processes) {
      await sweeper.stop();
      await database.close();
    }
    const before = [...done.values()];
    await sleep(100);
    assert.deepEqual([...done.values()], before);
  });
});

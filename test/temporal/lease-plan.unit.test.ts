import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { type LeaseState, type LiveWorker, planLeases } from '../../src/temporal/lease-plan.js';

const FOR_EVER = instant(Number.MAX_SAFE_INTEGER);
const NAMES = Array.from({ length: 40 }, (_, number) => `sweep ${number}`);

function worker(startedAt = 0): LiveWorker {
  return { id: newId(), startedAt: instant(startedAt) };
}

/** Leases as MySQL has them, and processes that plan and act one after the other. */
class Table {
  private readonly leases = new Map<string, LeaseState>();

  constructor(names: readonly string[]) {
    for (const name of names)
      this.leases.set(name, { name, holder: null, takenAt: instant(0), leaseUntil: instant(0) });
  }

  /** Every live process once, in this order. Answers how many leases changed hands. */
  round(workers: readonly LiveWorker[], at: number, acting = workers): number {
    let moved = 0;
    for (const { id } of acting) {
      const { take, giveUp } = planLeases(id, instant(at), workers, [...this.leases.values()]);
      for (const name of giveUp) this.set(name, { leaseUntil: instant(at) });
      for (const name of take)
        this.set(name, { holder: id, takenAt: instant(at), leaseUntil: FOR_EVER });
      moved += take.length;
    }
    return moved;
  }

  die({ id }: LiveWorker, at: number): void {
    for (const { name, holder } of this.leases.values())
      if (holder === id) this.set(name, { leaseUntil: instant(at) });
  }

  heldBy({ id }: LiveWorker): string[] {
    return [...this.leases.values()]
      .filter((one) => one.leaseUntil === FOR_EVER && one.holder === id)
      .map(({ name }) => name);
  }

  /** That nobody has. */
  get free(): string[] {
    return [...this.leases.values()]
      .filter(({ leaseUntil }) => leaseUntil !== FOR_EVER)
      .map(({ name }) => name);
  }

  private set(name: string, change: Partial<LeaseState>): void {
    this.leases.set(name, { ...this.leases.get(name)!, ...change });
  }
}

describe('the plan of leases', () => {
  it('gives all of them to a process that is alone', () => {
    const [table, only] = [new Table(NAMES), worker()];
    table.round([only], 1);
    assert.deepEqual(table.heldBy(only), NAMES);
  });

  it('shares them among processes that start together, however long they were free, and leaves none over', () => {
    const table = new Table(NAMES);
    const workers = Array.from({ length: 4 }, () => worker(1_000_000));
    table.round(workers, 1_000_001);
    assert.deepEqual(table.free, []);
    for (const one of workers) assert(table.heldBy(one).length > 0, 'one has none');
  });

  it('moves only what belongs with a process that has joined, once', () => {
    const [table, first, second] = [new Table(NAMES), worker(0), worker(10)];
    table.round([first], 1);
    table.round([first, second], 11);
    const moved = table.heldBy(second).length;
    assert(moved > 0 && moved < NAMES.length);
    assert.equal(table.round([first, second], 12), 0, 'they go on moving');
  });

  it('moves what was taken while a process that had already started was not seen yet, once', () => {
    const [table, first, unseen] = [new Table(NAMES), worker(10), worker(10)];
    table.round([first], 11);
    table.round([first, unseen], 12);
    const moved = table.heldBy(unseen).length;
    assert(moved > 0 && moved < NAMES.length);
    assert.equal(table.round([first, unseen], 13), 0, 'they go on moving');
  });

  it('has the others take over what a process had, and nothing else moves', () => {
    const [table, ...workers] = [new Table(NAMES), worker(), worker(), worker()] as const;
    table.round(workers, 1);
    const [dead, ...others] = workers;
    const before = others.map((one) => table.heldBy(one));
    table.die(dead, 2);
    table.round(others, 2);
    assert.deepEqual(table.free, []);
    others.forEach((one, index) =>
      assert(before[index]!.every((name) => table.heldBy(one).includes(name))),
    );
  });

  it('leaves what a process of another release does not take to those who know it, for good', () => {
    const [table, old, young] = [new Table(NAMES), worker(100), worker(100)];
    const both = [old, young];
    table.round(both, 1_000, [young]);
    assert(table.free.length > 0, 'nothing is left to the other one');
    table.round(both, 2_000, [young]);
    assert(table.free.length > 0, 'it did not wait');
    table.round(both, 4_000, [young]);
    assert.deepEqual(table.heldBy(young), NAMES);
    assert.equal(table.round(both, 5_000, [young]), 0);
    assert.deepEqual(table.free, []);
  });

  it('takes nothing that somebody has', () => {
    const [table, first, second] = [new Table(NAMES), worker(0), worker(0)];
    table.round([first], 5_000);
    assert.equal(table.round([first, second], 6_000, [second]), 0);
  });
});

import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GroupScheduler } from '../../src/ledger/writer/group-scheduler.js';
import type { PendingCommand } from '../../src/ledger/writer/pending-command.js';

describe('the group scheduler', () => {
  it('the next group is taken when the latest group has sent COMMIT, whatever becomes of earlier groups, and at most two run', async () => {
    const taken: { readonly names: string; commit: () => void; end: () => void }[] = [];
    const scheduler = new GroupScheduler(
      { maxGroup: 200, groupsInFlight: 2, maxGatherMs: 60_000 },
      (group, commit) =>
        new Promise((end) => {
          taken.push({ names: group.map(({ command: { key } }) => key).join(''), commit, end });
        }),
      { groupTaken: () => undefined, idle: () => undefined },
    );
    const add = (key: string): void =>
      // The scheduler reads only these properties.
      scheduler.add({
        command: { key },
        submission: Symbol(),
        isAnswered: false,
      } as PendingCommand);
    const steps: readonly [() => void, string][] = [
      [() => add('a'), 'a'],
      [() => add('b'), 'a'],
      [() => taken[0]!.commit(), 'a b'],
      [() => add('c'), 'a b'],
      [() => taken[0]!.end(), 'a b'],
      [() => add('d'), 'a b'],
      [() => taken[1]!.commit(), 'a b cd'],
      [() => add('e'), 'a b cd'],
      [() => taken[2]!.commit(), 'a b cd'],
      [() => taken[1]!.end(), 'a b cd e'],
      [() => add('f'), 'a b cd e'],
      [() => taken[3]!.end(), 'a b cd e f'],
    ];
    for (const [step, expected] of steps) {
      step();
      await nextTurn();
      await nextTurn();
      assert.equal(taken.map(({ names }) => names).join(' '), expected);
    }
    for (const { end } of taken) end();
    await nextTurn();
    assert(scheduler.isIdle);
  });
});

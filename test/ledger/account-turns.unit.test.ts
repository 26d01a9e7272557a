import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import { newId } from '../../src/core/ids.js';
import { AccountTurns } from '../../src/ledger/desk/account-turns.js';

describe('the turns of groups', () => {
  const [one, other, third] = [newId(), newId(), newId()];
  let turns: AccountTurns;
  let begun: string[];
  beforeEach(() => {
    [turns, begun] = [new AccountTurns(), []];
  });

  /** Begins a group; what it returns ends it. */
  function group(name: string, ...accounts: readonly (typeof one)[]) {
    let end: (failure?: Error) => void = () => undefined;
    const ended = new Promise<void>((resolve, reject) => {
      end = (failure) => (failure === undefined ? resolve() : reject(failure));
    });
    const working = turns.take(accounts, () => {
      begun.push(name);
      return ended;
    });
    return { end, working };
  }

  it('of those that share an account come one after the other, in order, and of the others at once', async () => {
    const first = group('first', one, other);
    const second = group('second', other, third);
    const apart = group('apart', newId());
    const last = group('last', third);
    await turn();
    assert.deepEqual(begun, ['first', 'apart']);
    first.end();
    await turn();
    assert.deepEqual(begun, ['first', 'apart', 'second']);
    second.end();
    await turn();
    assert.deepEqual(begun, ['first', 'apart', 'second', 'last']);
    for (const { end } of [apart, last]) end();
    await Promise.all([first, second, apart, last].map(({ working }) => working));
  });

  it('come also after a group that failed, which alone is told', async () => {
    const first = group('first', one);
    const second = group('second', one);
    first.end(new Error('it failed'));
    await assert.rejects(first.working, /it failed/);
    await turn();
    assert.deepEqual(begun, ['first', 'second']);
    second.end();
    await second.working;
  });

  it('are over with the last group: the next begins at once', async () => {
    const first = group('first', one);
    await turn();
    first.end();
    await first.working;
    const second = group('second', one);
    await turn();
    assert.deepEqual(begun, ['first', 'second']);
    second.end();
    await second.working;
  });
});

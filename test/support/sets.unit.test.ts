import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { newId } from '../../src/core/ids.js';
import { DeskError } from '../../src/support/desk.js';
import { formatSums } from '../../src/core/amount.js';
import { digestOf, selectedIds } from '../../src/support/actions/sets.js';
import { keepDraft } from '../../src/support/drafts.js';
import { Cookies } from '../../src/support/cookies.js';

describe('a set of items of the support desk', () => {
  const ids = Array.from({ length: 101 }, () => newId());

  it('a set has each selected item once, and at most 100 of them', () => {
    const [one = newId(), two = newId()] = ids;
    assert.deepEqual(selectedIds([one, two, one.toUpperCase(), one]), [one, two]);
    assert.equal(selectedIds(ids.slice(0, 100)).length, 100);
    assert.throws(() => selectedIds(ids), DeskError);
    assert.throws(() => selectedIds([one, 'x']), DeskError);
  });

  it('a set is summed up for each asset by itself', () => {
    assert.equal(
      formatSums([
        { raw: 100_000n, asset: 'COPM' },
        { raw: 2_500_000n, asset: 'DUSD' },
        { raw: 50_001n, asset: 'COPM' },
        { asset: null },
      ]),
      '1,500.01 COPM and 2.500000 DUSD',
    );
  });

  it('the digest of a set depends on its items and their amounts, and not on their order', () => {
    const [one = newId(), two = newId()] = ids;
    const [first, second] = [
      { id: one, raw: 1n, asset: 'COPM' as const },
      { id: two, raw: 1n, asset: 'COPM' as const },
    ];
    const digest = digestOf([first, second]);
    assert.equal(digestOf([second, first]), digest);
    for (const other of [
      [first],
      [first, { ...second, raw: 2n }],
      [first, { ...second, asset: 'DUSD' as const }],
    ])
      assert.notEqual(digestOf(other), digest);
  });

  it('the largest set with the longest reason fits into the cookie that keeps it', () => {
    const reason = hash('sha512', 'reason', 'base64').padEnd(140, 'ñ€').slice(0, 140);
    const form = new URLSearchParams([
      ['by', newId()],
      ...ids.slice(0, 100).map((id): [string, string] => ['item', id]),
      ['reason', reason],
    ]);
    const kept: string[] = [];
    const context = {
      path: '/waiting/transfers/approve',
      append: (_: string, value: string) => kept.push(value),
    };
    keepDraft(context, new Cookies(true), form);
    assert.equal(kept.length, 1);
  });
});

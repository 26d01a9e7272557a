import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { STAFF_RIGHTS, type StaffRight } from '../../src/db/entities/staff.js';
import {
  actionRefusal,
  asksForCode,
  isLocked,
  lockedUntil,
  rightRefusal,
  secondPersonRefusal,
  STAFF_ACTIONS,
  type StaffActionName,
  type StaffChannel,
} from '../../src/staff/rules.js';

const NOW = instant(1_800_000_000_000);
const ACTS = Object.keys(STAFF_ACTIONS) as StaffActionName[];

// The table of docs/contract.md, Staff, written out, so that a changed right is seen.
const NEEDS: Readonly<Record<StaffActionName, StaffRight>> = {
  'transfer.approve': 'approve',
  'transfer.reject': 'approve',
  'transfer.cancel': 'cancel',
  'payout.approve': 'approve',
  'payout.reject': 'approve',
  'payout.cancel': 'cancel',
  'payout.resolve_propose': 'resolve',
  'payout.resolve_approve': 'resolve',
  'payout.resolve_reject': 'resolve',
  'payin.record': 'adjust',
  'adjustment.propose': 'adjust',
  'adjustment.approve': 'adjust',
  'adjustment.reject': 'adjust',
  'bonus_batch.pause': 'pause',
  'bonus_batch.resume': 'pause',
  'bonus_batch.cancel': 'cancel',
  'webhook.pause': 'pause',
  'webhook.resume': 'pause',
  'webhook.retry_now': 'pause',
  'webhook.enable': 'pause',
  'webhook.disable': 'pause',
  'webhook.recover': 'pause',
  'staff.reset_propose': 'manage',
  'staff.reset_approve': 'manage',
  'restore.begin': 'manage',
  'restore.finish': 'manage',
};
/** Of two people, so that each gives a code at every door, and no service does it. */
const OF_TWO = /^(payout\.resolve_|adjustment\.|staff\.reset_|restore\.)/;
const MOVES_MONEY = ['transfer.approve', 'payout.approve', 'payin.record'];

/** An approval by support is a person's. */
const byPeople = (act: string): boolean =>
  OF_TWO.test(act) || act === 'transfer.approve' || act === 'payout.approve';

describe('what one of the staff may do', () => {
  for (const act of ACTS)
    it(`what one of the staff may do: ${act} asks for the right to ${NEEDS[act]}${byPeople(act) ? ', and is done by people alone' : ''}`, () => {
      for (const right of STAFF_RIGHTS) {
        const may = (kind: 'person' | 'service'): boolean =>
          actionRefusal(act, { name: 'ana', kind, rights: [right] }) === null;
        assert.deepEqual(
          [may('person'), may('service')],
          [right === NEEDS[act], right === NEEDS[act] && !byPeople(act)],
        );
      }
    });

  it('a staff action asks for a code in every signal, if it needs two people, and where money moves at the support desk', () => {
    const asking = (door: StaffChannel): readonly string[] =>
      ACTS.filter((act) => asksForCode(act, door));
    assert.deepEqual(asking('temporal'), ACTS);
    const ofTwo = ACTS.filter((act) => OF_TWO.test(act));
    assert.deepEqual(asking('ops'), ofTwo);
    assert.deepEqual([...asking('support')].sort(), [...ofTwo, ...MOVES_MONEY].sort());
  });

  it('one of the staff without any right may only look', () => {
    const nobody = { name: 'ana', kind: 'person', rights: [] } as const;
    assert.deepEqual(
      STAFF_RIGHTS.filter((right) => rightRefusal(nobody, right) === null),
      ['read'],
    );
  });

  it('a second person is a person with another id, whatever the names, and nobody if the first is unknown', () => {
    const [one, other] = [newId(), newId()];
    assert.equal(secondPersonRefusal(one, other), null);
    assert.equal(secondPersonRefusal(one, one)?.code, 'authority_insufficient');
    assert.equal(secondPersonRefusal(null, one)?.code, 'authority_insufficient');
  });
});

describe('the pause after wrong codes in a row', () => {
  it('the pause after wrong codes in a row is none for four, 30 s for the fifth, then twice the last each time, an hour at most', () => {
    const pauses = Array.from({ length: 16 }, (_, index) => {
      const until = lockedUntil(index, NOW);
      return until === null ? 0 : (until - NOW) / 1_000;
    });
    assert.deepEqual(
      pauses,
      [0, 0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600, 3_600],
    );
    assert.equal(lockedUntil(1_000_000, NOW), NOW + 3_600_000);
  });

  it('the pause after wrong codes in a row is over at its end', () => {
    const until = instant(NOW + 30_000);
    assert.equal(isLocked({ lockedUntil: until }, instant(until - 1)), true);
    assert.equal(isLocked({ lockedUntil: until }, until), false);
    assert.equal(isLocked({ lockedUntil: null }, NOW), false);
  });
});

import assert from 'node:assert/strict';
import { Secret } from 'otpauth';
import { newId } from '../../src/core/ids.js';
import { instant } from '../../src/core/instant.js';
import { staff, STAFF_RIGHTS, type StaffRight } from '../../src/db/entities/staff.js';
import { nullsOf } from '../../src/db/table.js';
import {
  actionRefusal,
  asksForCode,
  isLocked,
  lockedUntil,
  rightRefusal,
  rowRefusal,
  secondPersonRefusal,
  STAFF_ACTIONS,
  type StaffActionName,
  type StaffChannel,
  foldedName,
  UNLOCKED,
} from '../../src/staff/rules.js';
import { codeAt, newFactor, STEP_MS, findCodeStep } from '../../src/staff/authenticator.js';

const NOW = instant(1_800_000_000_000);
const ACTS = Object.keys(STAFF_ACTIONS) as StaffActionName[];

// The table of docs/contract.md, Staff, written out, so that a changed right is seen.
const NEEDS: Readonly<Record<StaffActionName, StaffRight>> = {
  'transfer.approve': 'approve',
  'transfer.reject': 'approve',
  'transfer.cancel': 'cancel',
  'transfer.refund': 'adjust',
  'payout.approve': 'approve',
  'payout.reject': 'approve',
  'payout.cancel': 'cancel',
  'payout.retry': 'resolve',
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
  'payout_batch.pause': 'pause',
  'payout_batch.resume': 'pause',
  'payout_batch.cancel': 'cancel',
  'schedule.pause': 'pause',
  'schedule.resume': 'pause',
  'schedule.cancel': 'cancel',
  'webhook.pause': 'pause',
  'webhook.resume': 'pause',
  'webhook.retry_now': 'pause',
  'webhook.enable': 'pause',
  'webhook.disable': 'pause',
  'webhook.recover': 'pause',
  'webhook.redeliver': 'pause',
  'staff.reset_propose': 'manage',
  'staff.reset_approve': 'manage',
  'restore.begin': 'manage',
  'restore.finish': 'manage',
};
/** Of two people, so that each gives a code at every door, and no service does it. */
const OF_TWO = /^(transfer\.refund|payout\.resolve_|adjustment\.|staff\.reset_|restore\.)/;
const MOVES_MONEY = ['transfer.approve', 'payout.approve', 'payin.record'];

/** An approval by support is a person's. */
const byPeople = (act: string): boolean =>
  OF_TWO.test(act) || act === 'transfer.approve' || act === 'payout.approve';

describe('the rights of staff', () => {
  it('equal docs/contract.md, and only people approve or act as one of two', () => {
    assert.deepEqual(ACTS.toSorted(), Object.keys(NEEDS).sort());
    for (const act of ACTS)
      for (const right of STAFF_RIGHTS) {
        const may = (kind: 'person' | 'service'): boolean =>
          actionRefusal(act, { name: 'ana', kind, rights: [right] }) === null;
        const isRight = right === NEEDS[act];
        assert.deepEqual(
          [may('person'), may('service')],
          [isRight, isRight && !byPeople(act)],
          `${act} with ${right}`,
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

  it('an action needs its right in the session and still now, of active staff', () => {
    const ana = { id: newId(), name: 'ana', foldedName: 'ana', kind: 'person' } as const;
    const stored = { ...nullsOf(staff), ...ana, ...UNLOCKED, createdAt: NOW };
    const may = (session: StaffRight[], rights: StaffRight[], active = true): boolean =>
      rowRefusal('payin.record', { ...ana, rights: session }, { ...stored, rights, active }) ===
      null;
    assert.equal(may(['adjust'], ['adjust']), true);
    assert.equal(may(['pause'], ['adjust', 'pause']), false);
    assert.equal(may(['adjust'], ['pause']), false);
    assert.equal(may(['adjust'], ['adjust'], false), false);
    assert(rowRefusal('payin.record', { ...ana, rights: ['adjust'] }, undefined) !== null);
  });

  it('a member of staff without any right may only read', () => {
    const nobody = { name: 'ana', kind: 'person', rights: [] } as const;
    assert.deepEqual(
      STAFF_RIGHTS.filter((right) => rightRefusal(nobody, right) === null),
      ['read'],
    );
  });

  it('a second person is a person with another id, regardless of names', () => {
    const [one, other] = [newId(), newId()];
    assert.equal(secondPersonRefusal(one, other), null);
    assert.equal(secondPersonRefusal(one, one)?.code, 'authority_insufficient');
    assert.equal(secondPersonRefusal(null, one)?.code, 'authority_insufficient');
  });
});

describe('the pause after wrong codes in a row', () => {
  it('is zero up to four, 30 s after the fifth, and doubles each time up to an hour', () => {
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

  it('is over at its end', () => {
    const until = instant(NOW + 30_000);
    assert.equal(isLocked({ lockedUntil: until }, instant(until - 1)), true);
    assert.equal(isLocked({ lockedUntil: until }, until), false);
    assert.equal(isLocked({ lockedUntil: null }, NOW), false);
  });
});

/** Names that look alike to a quick reader. */
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  'upper case': 'MARIA',
  'an accent': 'María',
  'an accent of its own character': 'Mari\u0301a',
  'full width': 'ＭＡＲＩＡ',
  'a Cyrillic а': 'mari\u0430',
  'Cyrillic letters alone': 'м\u0430ri\u0430',
  'a space of no width': 'ma\u200bria',
  'a soft hyphen': 'ma\u00adria',
  'spaces around': '  maria ',
  'mathematical letters': '𝐦𝐚𝐫𝐢𝐚',
};

describe('the folded name of one of the staff', () => {
  it('is the same for names that look alike', () => {
    for (const [what, name] of Object.entries(LOOK_ALIKES))
      assert.equal(foldedName(name), foldedName('maria'), what);
  });

  it('folding keeps the names of different staff apart', () => {
    const names = 'maria marta mario maria.c mariana ana josé joan'.split(' ');
    assert.equal(new Set(names.map(foldedName)).size, names.length);
  });

  it('treats consecutive spaces as one, folds to itself, and is empty if there is nothing to read', () => {
    assert.equal(foldedName('Ana  \t María'), foldedName('ana maria'));
    for (const name of ['', ' ', '\u200b', '\u0301']) assert.equal(foldedName(name), '');
    for (const name of [...Object.values(LOOK_ALIKES), 'Ana María', 'Łukasz', 'Ñandú 7'])
      assert.equal(foldedName(foldedName(name)), foldedName(name), name);
  });
});

const KEYS = [{ id: 'test', secret: Buffer.alloc(32, 7) }] as const;
const PERSON = { id: newId(), name: 'maria' };

describe("an authenticator's code", () => {
  // RFC 6238, Appendix B: SHA-1 with the secret "12345678901234567890"; of eight digits the last six are those of six.
  const secret = Secret.fromLatin1('12345678901234567890').base32;
  it('is computed as in RFC 6238', () => {
    for (const [seconds, eight] of [
      [59, '94287082'],
      [1_111_111_109, '07081804'],
      [1_234_567_890, '89005924'],
      [20_000_000_000, '65353130'],
    ] as const)
      assert.equal(codeAt(secret, instant(seconds * 1_000)), eight.slice(2));
  });

  const factor = newFactor(KEYS, PERSON);
  const at = instant(1_800_000_000_000 + 10_000);
  const step = BigInt(Math.floor(at / STEP_MS));

  it('is accepted for the current 30-second step, the previous one and the next one, and no other', () => {
    for (const [steps, expected] of [
      [-2, null],
      [-1, step - 1n],
      [0, step],
      [1, step + 1n],
      [2, null],
    ] as const) {
      const code = codeAt(factor.secret, instant(at + steps * STEP_MS));
      assert.equal(
        findCodeStep(KEYS, PERSON.id, factor.sealed, code, at),
        expected,
        `${steps} steps away`,
      );
    }
  });

  it("an authenticator's secret is sealed for its person, and cannot be opened as the secret of another person", () => {
    assert.throws(() => findCodeStep(KEYS, newId(), factor.sealed, codeAt(factor.secret, at), at));
  });

  it('an authenticator app reads the service, the name and the secret from an otpauth URL', () => {
    const { protocol, host, pathname, searchParams } = new URL(factor.url);
    assert.deepEqual([protocol, host], ['otpauth:', 'totp']);
    assert.match(decodeURIComponent(pathname), /maria$/);
    assert.deepEqual(
      ['secret', 'algorithm', 'digits', 'period'].map((name) => searchParams.get(name)),
      [factor.secret, 'SHA1', '6', '30'],
    );
    assert.equal(factor.secret.length, 32);
    assert(!factor.sealed.bytes.includes(factor.secret));
  });
});

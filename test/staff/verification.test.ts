import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { auditLog } from '../../src/db/entities/identity.js';
import { type Staff, staff, staffChecks } from '../../src/db/entities/staff.js';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { STEP_MS } from '../../src/staff/authenticator.js';
import { setService } from '../../src/staff/people.js';
import {
  type Claim,
  type StaffDeps,
  type Verified,
  verifyPerson,
} from '../../src/staff/verification.js';
import { openDatabase, testDatabase } from '../helpers/database.js';
import { isCommit, Proxy } from '../helpers/proxy.js';
import { codeOf, staffPartsOf, wrongCode } from '../helpers/staff.js';
import { dismiss, hire } from '../helpers/temporal-world.js';
import { TEST_ACTOR } from '../helpers/world.js';

const MINUTE_MS = 60_000;
/** The middle of a step. */
const BEGAN = instant(Math.floor(1_800_000_000_000 / STEP_MS) * STEP_MS + STEP_MS / 2);

const db = await testDatabase();

describe('a claim of one of the staff', () => {
  let ana: Staff;
  let now: Instant;
  let deps: StaffDeps;

  beforeEach(async () => {
    now = BEGAN;
    ana = await hire(db.database);
    deps = staffPartsOf(db.database, () => now);
  });

  /** By ana, with the code of now, for something of its own. */
  const claim = (changes: Partial<Claim> = {}): Claim => ({
    ...{
      name: ana.name,
      code: codeOf(ana, now),
      channel: 'support',
      right: 'approve',
      receivedAt: now,
    },
    purpose: randomUUID(),
    refusalEntry: {
      tenantId: null,
      action: 'staff.bind_refused',
      subjectType: 'staff',
      subjectId: ana.id,
    },
    ...changes,
  });
  const verify = (changes?: Partial<Claim>): Promise<Verified> =>
    verifyPerson(deps, claim(changes));
  const outcomeOf = (verified: Verified): string =>
    'refusal' in verified ? verified.refusal.message : 'verified';
  const lines = () =>
    db.database.reader.select(auditLog, { subjectId: ana.id, action: 'staff.bind_refused' });
  const rowOf = async ({ id }: Staff): Promise<Staff> =>
    (await db.database.reader.find(staff, { id }))!;

  it('a valid code identifies its person by id, with the rights, and is recorded as used', async () => {
    const verified = await verify();
    assert('identity' in verified);
    const { id, name, kind, rights } = ana;
    assert.deepEqual(verified.identity, { id, name, kind, rights, channel: 'support' });
    assert.equal((await rowOf(ana)).lastUsedAt, now);
    assert.deepEqual(await lines(), []);
  });

  it('is proven for one person only: the same purpose claimed by another is refused, and recorded', async () => {
    const purpose = randomUUID();
    const bob = await hire(db.database);
    assert.equal(
      outcomeOf(await verify({ purpose, name: bob.name, code: codeOf(bob, now) })),
      'verified',
    );
    assert.equal(
      outcomeOf(await verify({ purpose, code: '000000' })),
      'another person has sent it before',
    );
    assert.equal(
      outcomeOf(await verify({ purpose, name: 'Mallory', code: null })),
      'another person has sent it before',
    );
    assert.equal((await lines()).length, 2);
  });

  it('wrong codes lock a person out where they were entered, and never at the command line for codes entered elsewhere', async () => {
    for (let wrong = 0; wrong < 5; wrong += 1) await verify({ code: wrongCode(ana, now) });
    assert.match(outcomeOf(await verify({ channel: 'temporal' })), /is locked for/);
    assert.equal(outcomeOf(await verify({ channel: 'ops' })), 'verified');
    now = instant(now + STEP_MS * 2);
    for (let wrong = 0; wrong < 5; wrong += 1)
      await verify({ channel: 'ops', code: wrongCode(ana, now) });
    assert.match(outcomeOf(await verify({ channel: 'ops' })), /is locked for/);
  });

  it('is checked for the moment at which it arrived, at most 10 minutes ago', async () => {
    const [receivedAt, code] = [now, codeOf(ana, now)];
    now = instant(BEGAN + 10 * MINUTE_MS + 1);
    assert.match(outcomeOf(await verify({ receivedAt, code })), /older than 10 minutes/);
    now = instant(BEGAN + 10 * MINUTE_MS);
    assert.equal(outcomeOf(await verify({ receivedAt: now, code })), 'the code is wrong');
    assert.equal(outcomeOf(await verify({ receivedAt, code })), 'verified');
  });

  it('accepts a code once: for any other action it counts as used, although the authenticator still shows it', async () => {
    assert.equal(outcomeOf(await verify({ channel: 'ops' })), 'verified');
    for (const channel of ['ops', 'support', 'temporal'] as const)
      assert.equal(outcomeOf(await verify({ channel })), 'the code was used before');
    now = instant(now + STEP_MS);
    assert.equal(outcomeOf(await verify()), 'verified');
  });

  it('a code has the same result for the same purpose later, and is used up and recorded once', async () => {
    const [good, bad] = [claim(), claim({ code: wrongCode(ana, now) })];
    for (let round = 0; round < 3; round += 1) {
      assert.equal(outcomeOf(await verifyPerson(deps, good)), 'verified');
      assert.equal(outcomeOf(await verifyPerson(deps, bad)), 'the code is wrong');
      now = instant(now + 20 * MINUTE_MS);
    }
    assert.equal((await lines()).length, 1);
    assert.equal((await rowOf(ana)).failedCodes, 1);
  });

  it('without a name, a reason or a code is refused and recorded, and no code is used up or counted', async () => {
    for (const [changes, words, actor] of [
      [{ name: null }, /no actor was named/, ''],
      [{ name: 'Ana\u202e' }, /no actor was named/, ''],
      [{ name: 'Mallory' }, /^Mallory is not active staff$/, 'Mallory'],
      [{ fault: 'no reason was given' }, /^no reason was given$/, null],
      [{ code: null }, /no code was given/, null],
      [{ code: '' }, /no code was given/, null],
    ] as const) {
      assert.match(outcomeOf(await verify(changes)), words);
      const line = (await lines()).at(-1);
      assert.deepEqual([line?.channel, line?.actorClaimed], ['support', actor ?? ana.name]);
      assert.match(line!.details, /"refused":/);
    }
    assert.equal((await lines()).length, 6);
    assert.equal((await rowOf(ana)).failedCodes, 0);
    assert.equal(outcomeOf(await verify()), 'verified');
  });

  it('a code is refused without the right, for an inactive person, and for a service', async () => {
    const bob = await hire(db.database, ['cancel']);
    assert.match(
      outcomeOf(await verify({ name: bob.name, code: codeOf(bob, now) })),
      /lacks the right to approve/,
    );
    assert.equal(
      outcomeOf(await verify({ name: bob.name, code: codeOf(bob, now), right: 'cancel' })),
      'verified',
    );
    const robot = { name: `robot ${randomUUID().slice(0, 8)}`, rights: ['approve'] } as const;
    await setService(deps, robot, TEST_ACTOR);
    assert.match(outcomeOf(await verify({ name: robot.name })), /has no authenticator/);
    assert.match(
      outcomeOf(await verify({ name: robot.name, twoPeople: true })),
      /never counts as a person/,
    );
    await dismiss(db.database, ana);
    assert.match(outcomeOf(await verify()), /is not active staff/);
    assert.equal((await lines()).length, 4);
  });

  it("accepts neither another person's code nor text that is not a code", async () => {
    const bob = await hire(db.database);
    const wrong = [
      codeOf(bob, now),
      '12345',
      '1234567',
      'abcdef',
      '１２３４５６',
      `${codeOf(ana, now)}1`,
      'x'.repeat(300),
    ];
    for (const [index, code] of wrong.entries()) {
      assert.equal(outcomeOf(await verify({ code })), 'the code is wrong', code);
      assert.equal((await rowOf(ana)).failedCodes, index + 1);
      await db.change('UPDATE staff SET locked_until=NULL');
    }
    assert.equal((await rowOf(bob)).failedCodes, 0);
    assert.equal(outcomeOf(await verify()), 'verified');
    assert.equal((await rowOf(ana)).failedCodes, 0);
  });

  it('a code that is claimed twenty times at once counts once', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => verify()));
    const words = all.map(outcomeOf);
    assert.equal(words.filter((one) => one === 'verified').length, 1);
    assert(
      words.every((one) => /^verified$|used before|is locked for/.test(one)),
      words.join(),
    );
    assert.equal(
      (await db.database.reader.select(staffChecks, { staffId: ana.id })).filter(
        ({ step }) => step !== null,
      ).length,
      1,
    );
    assert.equal((await lines()).length, 19);
  });

  it('repeated wrong codes lock a person out for longer and longer, and the right code succeeds after the pause', async () => {
    let judged = 0;
    for (let tries = 0; tries < 100; tries += 1) {
      now = instant(now + 1_000);
      const words = outcomeOf(await verify({ code: wrongCode(ana, now) }));
      if (words === 'the code is wrong') judged += 1;
      else assert.match(words, /is locked for/);
    }
    const { failedCodes, lockedUntil } = await rowOf(ana);
    assert.deepEqual([failedCodes, (await lines()).length], [judged, 100]);
    // Four at once, then one after each of the pauses, which double up to an hour.
    assert(judged <= 12, `${judged} codes were judged`);
    assert.match(outcomeOf(await verify()), /is locked for/);
    now = lockedUntil!;
    assert.equal(outcomeOf(await verify()), 'verified');
    assert.equal((await rowOf(ana)).failedCodes, 0);
  });

  for (const [fate, isRight] of [
    ['cut_before', true],
    ['cut_after', false],
  ] as const)
    it(`a claim whose response was lost returns its result, ${isRight ? 'right' : 'wrong'}, when it is repeated: ${fate} COMMIT`, async () => {
      now = systemClock();
      const proxy = await Proxy.open(db.url);
      const database = openDatabase(proxy.through(db.url));
      const one = claim(isRight ? {} : { code: wrongCode(ana, now) });
      proxy.fateOf = (data) => (isCommit(data) ? fate : 'pass');
      await assert.rejects(verifyPerson({ ...deps, database }, one));
      assert.equal(proxy.cuts, 1);
      proxy.fateOf = () => 'pass';
      const again = await verifyPerson({ ...deps, database }, one);
      assert.equal(outcomeOf(again), isRight ? 'verified' : 'the code is wrong');
      assert.equal((await rowOf(ana)).failedCodes, isRight ? 0 : 1);
      assert.equal((await lines()).length, isRight ? 0 : 1);
      // For anything else it is used up all the same.
      assert.equal(outcomeOf(await verify()), isRight ? 'the code was used before' : 'verified');
      await database.close();
      await proxy.close();
    });
});

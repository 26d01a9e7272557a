import type { Actor } from '../../src/access/audit-log.js';
import { randomInt } from 'node:crypto';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import type { Database } from '../../src/db/database.js';
import type { Staff } from '../../src/db/entities/staff.js';
import { codeAt, STEP_MS } from '../../src/staff/authenticator.js';
import { setPerson, type NewStaff } from '../../src/staff/people.js';
import { identityOf, type StaffDeps, StaffSignals } from '../../src/staff/verification.js';
import type { StaffChannel, StaffIdentity } from '../../src/staff/rules.js';
import { TEST_KEYRING } from './api.js';
import { TEST_ACTOR } from './world.js';

/** The authenticators of the people that tests made. */
const secrets = new Map<string, string>();

/** The parts of the service that know the staff, over a test's database. */
export function staffPartsOf(database: Database, clock = systemClock): StaffDeps {
  return { database, clock, encryptionKeys: TEST_KEYRING };
}

/** Databases with a person who may manage the staff: a test may remove those whom it added. */
const managed = new WeakSet<Database>();

/** A member of the staff, whose authenticator the test holds. */
export async function addStaff(
  database: Database,
  wanted: NewStaff,
  actor: Actor = TEST_ACTOR,
): Promise<Staff> {
  if (!managed.has(database)) {
    managed.add(database);
    const manager = { name: 'Manager of the staff', rights: ['manage'] } as const;
    const add = () => setPerson(staffPartsOf(database), manager, TEST_ACTOR);
    // Another connection may add the same person.
    await add().catch(add);
  }
  const { person, factor } = await setPerson(staffPartsOf(database), wanted, actor);
  if (factor !== null) secrets.set(person.id, factor.secret);
  return person;
}

/** Verifies the claims of signals, as if each had come just now. */
export function signalsOf(database: Database, clock = systemClock): StaffSignals {
  return new StaffSignals(staffPartsOf(database, clock), () => Promise.resolve(clock()));
}

/** The code of their authenticator at that moment. */
export function codeOf({ id }: Pick<Staff, 'id'>, at: Instant = instant(Date.now())): string {
  const secret = secrets.get(id);
  if (secret === undefined) throw new Error('no test made this one of the staff');
  return codeAt(secret, at);
}

/** A code that does not count at this moment. */
export function wrongCode(person: Pick<Staff, 'id'>, now: Instant): string {
  const right = [-STEP_MS, 0, STEP_MS].map((ms) => codeOf(person, instant(now + ms)));
  for (;;) {
    const code = randomInt(1_000_000).toString().padStart(6, '0');
    if (!right.includes(code)) return code;
  }
}

/** Lets codes of the last minute count once more, so that no test waits for the next one. */
export async function forgetCodes(sql: (text: string) => Promise<unknown>): Promise<void> {
  const spent =
    'UPDATE staff_checks SET step=-FLOOR(1 + RAND() * 9e15) WHERE step > 0 ORDER BY purpose';
  // Several tests of a file may do this at once, and meet.
  for (let tries = 1; ; tries += 1) {
    try {
      await sql(spent);
      return;
    } catch (failure) {
      if (!/Deadlock/.test(String(failure)) || tries === 20) throw failure;
    }
  }
}

/** A proven person, as a session or a code makes one. */
export function proven(person: Staff, channel: StaffChannel = 'ops'): StaffIdentity {
  return identityOf(person, channel);
}

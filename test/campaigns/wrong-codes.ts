import assert from 'node:assert/strict';
import { randomInt, randomUUID } from 'node:crypto';
import { type Instant, instant } from '../../src/core/instant.js';
import { type Staff, staff } from '../../src/db/entities/staff.js';
import { STEP_MS } from '../../src/staff/authenticator.js';
import { type Claim, verifyClaim } from '../../src/staff/verification.js';
import type { TestDatabase } from '../support/database.js';
import { codeOf, staffPartsOf } from '../support/staff.js';
import { hire } from '../support/temporal-world.js';
import { assertLedgerSound } from '../support/world.js';

interface WrongCodesCampaign {
  readonly db: TestDatabase;
  readonly codes: number;
}

const BEGAN = 1_800_000_000_000;
const EACH_MS = 1_000;

/**
 * Somebody who knows a name tries one code after another, a second apart, by a clock of the test. None opens; what is looked at
 * becomes ever rarer; each try is in the audit log once; and the person whose name it is comes in when the pause is over.
 */
export async function wrongCodesCampaign({ db, codes }: WrongCodesCampaign): Promise<string> {
  const ana = await hire(db.database);
  let now = instant(BEGAN);
  const deps = staffPartsOf(db.database, () => now);
  const tried = randomUUID();
  let judged = 0;
  for (let index = 0; index < codes; index += 1) {
    now = instant(now + EACH_MS);
    const verified = await verifyClaim(
      deps,
      claimOf(ana, wrongCode(ana, now), now, `${tried}/${index}`),
    );
    assert('refusal' in verified, 'a wrong code has opened');
    if (verified.refusal.message === 'the code is wrong') judged += 1;
    else assert.match(verified.refusal.message, /is locked until/);
  }
  const locked = await db.database.reader.find(staff, { id: ana.id });
  assert.equal(locked?.failedCodes, judged);
  // 4 at once, then behind pauses that double up to an hour.
  assert(judged <= 4 + 8 + (codes * EACH_MS) / 3_600_000, `${judged} codes were looked at`);
  const [row] = await db.sql(`SELECT COUNT(*) AS n FROM audit_log WHERE subject_id='${tried}'`);
  assert.equal(Number(row?.n), codes);

  const right = (): Claim => claimOf(ana, codeOf(ana, now), now, randomUUID());
  assert('refusal' in (await verifyClaim(deps, right())), 'the pause has ended early');
  assert(locked.lockedUntil !== null);
  now = locked.lockedUntil;
  const opened = await verifyClaim(deps, right());
  assert('identity' in opened && opened.identity.id === ana.id, 'who it is does not come in again');
  assert.equal((await db.database.reader.find(staff, { id: ana.id }))?.failedCodes, 0);
  await assertLedgerSound(db.database);
  return `${codes} wrong codes in ${Math.round((codes * EACH_MS) / 60_000)} minutes: none opened, ${judged} were looked at, ${codes} lines in the audit log`;

  function claimOf({ name }: Staff, code: string, receivedAt: Instant, purpose: string): Claim {
    const refusalEntry = {
      tenantId: null,
      action: 'staff.sign_in_refused',
      subjectType: 'staff',
      subjectId: tried,
    };
    return {
      name,
      code,
      channel: 'support',
      right: 'approve',
      receivedAt,
      purpose,
      refusalEntry,
    };
  }
}

/** None that would count now: a campaign of 10,000 would else hit one every thirty times. */
export function wrongCode(person: Staff, now: Instant): string {
  const right = [-STEP_MS, 0, STEP_MS].map((ms) => codeOf(person, instant(now + ms)));
  for (;;) {
    const code = randomInt(1_000_000).toString().padStart(6, '0');
    if (!right.includes(code)) return code;
  }
}

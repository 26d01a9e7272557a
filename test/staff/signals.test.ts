import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { auditLog } from '../../src/db/entities/identity.js';
import { StaffSignals } from '../../src/staff/verification.js';
import type { StaffSignal } from '../../src/temporal/contracts.js';
import { testDatabase } from '../helpers/database.js';
import { staffPartsOf } from '../helpers/staff.js';
import { newSignature, REASON, type Signature } from '../helpers/temporal-world.js';

const db = await testDatabase();

describe('a signal of the staff', () => {
  let signature: Signature;
  let asked: unknown[];
  let signals: StaffSignals;

  beforeEach(async () => {
    signature = await newSignature(db.database);
    asked = [];
    signals = new StaffSignals(staffPartsOf(db.database), (workflowId, { action, number }) => {
      asked.push([workflowId.split('/')[0], action, number]);
      return Promise.resolve(number === 7 ? systemClock() : null);
    });
  });

  /** Answers why it is refused, or who it is, with what the audit log says. */
  async function verify(act: Partial<StaffSignal>): Promise<[string, unknown]> {
    const about = { tenantId: newId(), subjectType: 'transfer', subjectId: newId() } as const;
    const subject = { ...about, details: { status: 'waiting' } };
    const signal = { ...signature, number: 7, action: 'approve', actionId: newId(), ...act };
    const signed = await signals.verify('transfer.approve', signal, subject);
    const lines = await db.database.reader.select(auditLog, { subjectId: subject.subjectId });
    assert.equal(lines.length, 'refused' in signed ? 1 : 0);
    const [line] = lines;
    return [
      'refused' in signed ? signed.refused : `${signed.by.name}: ${signed.reason}`,
      line === undefined
        ? null
        : [line.tenantId, line.action, line.actorClaimed, JSON.parse(line.details)],
    ];
  }

  it('belongs to its sender, by the code of the moment at which the server received it', async () => {
    assert.deepEqual(await verify({ reason: '  because  of it ' }), [
      `${signature.actor}: because of it`,
      null,
    ]);
    assert.deepEqual(asked, [['transfer', 'approve', 7]]);
  });

  it('that is refused leaves one line with the attempt, the tenant, the sender and the reason, but never the code', async () => {
    const [refused, line] = await verify({ actor: 'Mallory' });
    assert.equal(refused, 'Mallory is not active staff');
    const [, action, actor, details] = line as unknown[];
    assert.deepEqual([action, actor], ['transfer.approve_refused', 'Mallory']);
    assert.deepEqual(details, { status: 'waiting', reason: REASON, refused });
    assert(!JSON.stringify(line).includes(signature.code));
  });

  it('is proven only for one action on one resource with one reason, and its id proves no other action', async () => {
    const signal = { ...signature, number: 7, action: 'approve', actionId: newId() } as const;
    const about = (subjectId = newId()) =>
      ({ tenantId: newId(), subjectType: 'transfer', subjectId }) as const;
    const own = about();
    assert('by' in (await signals.verify('transfer.approve', signal, own)));
    assert(
      'by' in (await signals.verify('transfer.approve', { ...signal, code: '000000' }, own)),
      'asked again',
    );
    for (const [act, subject, reason] of [
      ['transfer.approve', about(), REASON],
      ['transfer.cancel', own, REASON],
      ['transfer.approve', own, 'for another reason'],
    ] as const) {
      const again = await signals.verify(act, { ...signal, reason, code: '000000' }, subject);
      assert('refused' in again && again.refused === 'the code is wrong');
    }
  });

  it('a staff signal that the history does not contain is refused, and its code stays valid', async () => {
    assert.equal(
      (await verify({ number: 8 }))[0],
      'the time at which it arrived is unknown: send it again',
    );
    assert.equal((await verify({}))[0], `${signature.actor}: ${REASON}`);
  });
});

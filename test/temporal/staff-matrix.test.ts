import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import { type Instant, instant, systemClock } from '../../src/core/instant.js';
import { timeOfId, type Uuid } from '../../src/core/ids.js';
import { type Staff, STAFF_RIGHTS } from '../../src/db/entities/staff.js';
import { setService } from '../../src/staff/people.js';
import { STAFF_ACTIONS } from '../../src/staff/rules.js';
import { verifyClaim } from '../../src/staff/verification.js';
import { pause } from '../../src/webhooks/staff-actions.js';
import { wrongCode } from '../campaigns/wrong-codes.js';
import { openPayoutBank, workflowOf as payoutWorkflow } from '../payouts/support.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { idLiteral } from '../support/bank.js';
import { batchWorkflow, openPayrollBank } from '../support/batch-workflows.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { HttpReceiver } from '../support/http-receiver.js';
import { codeOf, proven, staffPartsOf } from '../support/staff.js';
import { temporalEnvironment, testTemporal, until, workflowOf } from '../support/temporal.js';
import { startTestWorker } from '../support/temporal-worker.js';
import { actsOn, hire, openGuardedBank, REASON } from '../support/temporal-world.js';
import { hookWorkflow, openHookedBank, untilDetails } from '../support/webhook-world.js';
import { TEST_ACTOR } from '../support/world.js';

const LATE_MS = 11 * 60_000;

/** What somebody gives with an action; `who` has its right, or every other one. */
type Proof = (stage: {
  readonly db: TestDatabase;
  readonly who: Staff;
  readonly now: Instant;
}) => Promise<Given>;

/** What the signal says beside its reason, and what becomes of it where the right is there. Null: it counts. */
interface Given {
  readonly actor: string | null;
  readonly code?: string | null;
  readonly refused: RegExp | null;
}

const PROOFS: Readonly<Record<string, Proof>> = {
  'the right code': async ({ who, now }) => ({
    actor: who.name,
    code: codeOf(who, now),
    refused: null,
  }),
  'a wrong code': async ({ who, now }) => ({
    actor: who.name,
    code: wrongCode(who, now),
    refused: /^the code is wrong$/,
  }),
  'a code that was used': async ({ db, who, now }) => {
    const code = codeOf(who, now);
    const refusalEntry = {
      tenantId: null,
      action: 'test.refused',
      subjectType: 'staff',
      subjectId: '',
    };
    const before = {
      channel: 'support',
      right: 'read',
      receivedAt: now,
      purpose: randomUUID(),
      refusalEntry,
    } as const;
    assert(
      'identity' in
        (await verifyClaim(staffPartsOf(db.database), { ...before, name: who.name, code })),
    );
    return { actor: who.name, code, refused: /^the code was used before$/ };
  },
  'a code of 2 minutes ago': async ({ who, now }) => ({
    ...{
      actor: who.name,
      code: codeOf(who, instant(now - 120_000)),
      refused: /^the code is wrong$/,
    },
  }),
  "somebody else's code": async ({ db, who, now }) => ({
    ...{
      actor: who.name,
      code: codeOf(await hire(db.database), now),
      refused: /^the code is wrong$/,
    },
  }),
  'no code': async ({ who }) => ({ actor: who.name, refused: /^no code was given$/ }),
  'nobody named': async ({ who, now }) => ({
    actor: null,
    code: codeOf(who, now),
    refused: /^no actor was named$/,
  }),
  'a person who is locked': async ({ db, who, now }) => {
    await db.change(
      `UPDATE staff SET locked_until='2100-01-01', failed_codes=9 WHERE id=${idLiteral(who.id)}`,
    );
    return { actor: who.name, code: codeOf(who, now), refused: /is locked until 2100/ };
  },
  'a service': async ({ db, who, now }) => {
    const name = `robot ${randomUUID()}`;
    await setService(staffPartsOf(db.database), { name, rights: who.rights }, TEST_ACTOR);
    return { actor: name, code: codeOf(who, now), refused: /has no authenticator$/ };
  },
};

/** One signal of each workflow meets every proof; the others, which are judged by the same code, meet these. */
const IN_FULL = ['transfer.approve', 'payout.approve', 'bonus_batch.pause', 'webhook.pause'];
const SOME = ['the right code', 'a wrong code'];

/** One that waits, its workflow, and where its state is. */
interface Target {
  readonly id: Uuid;
  readonly workflow: WorkflowHandle;
  readonly table: string;
}

const db = await testDatabase();
const temporal = await testTemporal();

describe('a staff action by signal', () => {
  let api: TestApi;
  let receiver: HttpReceiver;
  let late = 0;
  let targets: Readonly<Record<string, () => Promise<Target>>>;

  before(async () => {
    await startTestWorker(db, temporal, {
      sweeps: false,
      clock: () => instant(systemClock() + late),
    });
    api = await startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' });
    receiver = await new HttpReceiver().open();
    receiver.reply = () => 500;
    const [guarded, payroll, paying] = [
      await openGuardedBank(api),
      await openPayrollBank(api),
      await openPayoutBank(api),
    ];
    await paying.guard(1);
    targets = {
      transfer: async () => {
        const id = await guarded.pend();
        return { id, workflow: workflowOf(temporal, id), table: 'transfers' };
      },
      payout: async () => {
        const id = await paying.pend();
        return { id, workflow: payoutWorkflow(temporal, id), table: 'payouts' };
      },
      bonus_batch: async () => {
        const id = await payroll.ready(1);
        return { id, workflow: batchWorkflow(temporal, id), table: 'bonus_batches' };
      },
      webhook: async () => {
        const own = await openHookedBank(api, receiver);
        await own.send();
        await untilDetails(temporal, own.id, /^waiting until .* to retry 1 delivery$/);
        return { id: own.id, workflow: hookWorkflow(temporal, own.id), table: 'webhook_endpoints' };
      },
    };
  });
  beforeEach(() => {
    late = 0;
  });
  after(async () => {
    await receiver.close();
  });

  const rowOf = async ({ table, id }: Target): Promise<unknown> => {
    const [row] = await db.sql(`SELECT * FROM ${table} WHERE id=${idLiteral(id)}`);
    // An endpoint goes on trying by itself.
    const moves = [
      'fence',
      'failures_in_row',
      'lease_until',
      'next_due_at',
      'waits_until',
      'attended_at',
    ];
    return Object.fromEntries(
      Object.entries(row ?? {}).filter(([column]) => !moves.includes(column)),
    );
  };
  const waits = ({ workflow }: Target): Promise<unknown> =>
    until('it waits', async () => (await workflow.query('state').catch(() => null)) !== null);
  /** What the staff tried, and what was said to it. */
  const told = async ({ id }: Target): Promise<unknown[]> =>
    (await actsOn(db, id))
      .filter(({ channel }) => channel === 'temporal')
      .map(({ action, actorClaimed, details }) => [
        action,
        actorClaimed,
        (JSON.parse(details) as { refused?: string }).refused ?? null,
      ]);
  const others = (right: string): Staff['rights'] => STAFF_RIGHTS.filter((one) => one !== right);

  for (const [name, { right }] of Object.entries(STAFF_ACTIONS)) {
    const [type = '', signal = ''] = name.split('.');
    if (
      !['approve', 'reject', 'cancel', 'pause', 'resume', 'retry_now'].includes(signal) ||
      type === 'adjustment'
    )
      continue;

    it(`a staff action by signal, ${name}, is impossible without the right to ${right}, and with it needs the right code`, async () => {
      const target = await targets[type]!();
      await waits(target);
      if (name === 'webhook.resume')
        await pause(api.core, target.id, proven(await hire(db.database)));
      const before = await rowOf(target);
      for (const [what, proof] of Object.entries(PROOFS))
        for (const isRight of [true, false]) {
          if (!IN_FULL.includes(name) && !SOME.includes(what)) continue;
          if (isRight && what === 'the right code') continue;
          const who = await hire(db.database, isRight ? [right] : others(right));
          const { actor, code, refused } = await proof({ db, who, now: systemClock() });
          const known = (await told(target)).length;
          await target.workflow.signal(signal, { actor, reason: REASON, code });
          const lines = await until(`${what} is recorded`, async () => {
            const found = await told(target);
            return found.length > known && found;
          });
          const [action, claimed, why] = lines.at(-1) as [string, string, string];
          assert.deepEqual(
            [lines.length, action, claimed],
            [known + 1, `${name}_refused`, actor ?? ''],
          );
          const lacks =
            isRight || what === 'nobody named'
              ? refused
              : new RegExp(`lacks the right to ${right}$`);
          assert.match(why, lacks!, `${what}, ${isRight ? 'with' : 'without'} the right`);
        }
      assert.deepEqual(await rowOf(target), before);
      const who = await hire(db.database, [right]);
      await target.workflow.signal(signal, { actor: who.name, reason: REASON, code: codeOf(who) });
      const last = await until('it counts', async () => {
        const found = (await told(target)).at(-1) as [string, string, string | null] | undefined;
        return found?.[1] === who.name && found;
      });
      for (const { id, at } of await actsOn(db, target.id))
        assert(Math.abs(timeOfId(id) - at) < LATE_MS, `${id} does not stand where its time is`);
      // A batch that nobody executes is neither paused nor resumed: its state alone speaks against it.
      if (type === 'bonus_batch' && signal !== 'cancel')
        assert.match(last[2] ?? '', /^the batch is ready/);
      else assert.deepEqual(last, [name, who.name, null]);
      await target.workflow.terminate('the test is over').catch(() => undefined);
    });
  }

  it('a staff action by signal is too old if 10 minutes pass before it is handled: that is said and recorded, and nothing changes', async () => {
    for (const [type, signal] of [
      ['transfer', 'approve'],
      ['payout', 'reject'],
      ['bonus_batch', 'cancel'],
      ['webhook', 'pause'],
    ] as const) {
      late = 0;
      const target = await targets[type]!();
      await waits(target);
      const before = await rowOf(target);
      const who = await hire(db.database);
      late = LATE_MS;
      await target.workflow.signal(signal, { actor: who.name, reason: REASON, code: codeOf(who) });
      const [line] = await until('it is recorded', async () => {
        const found = await told(target);
        return found.length > 0 && found;
      });
      const why = 'the code is older than 10 minutes: ask again';
      assert.deepEqual(line, [`${type}.${signal}_refused`, who.name, why]);
      assert.deepEqual(await rowOf(target), before);
      await target.workflow.terminate('the test is over');
    }
  });
});

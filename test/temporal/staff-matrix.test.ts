import assert from 'node:assert/strict';
import type { WorkflowHandle } from '@temporalio/client';
import { systemClock } from '../../src/core/instant.js';
import { asUuid, type Uuid } from '../../src/core/ids.js';
import { STAFF_RIGHTS } from '../../src/db/entities/staff.js';
import { STAFF_ACTIONS } from '../../src/staff/rules.js';
import { actAsStaff } from '../../src/transfers/schedules/actions.js';
import { pauseEndpoint } from '../../src/webhooks/staff-actions.js';
import { openPayoutBank } from '../payouts/support.js';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { idLiteral, openBank, text } from '../helpers/bank.js';
import { openPayrollBank } from '../helpers/batch-workflows.js';
import { testDatabase } from '../helpers/database.js';
import { HttpReceiver } from '../helpers/http-receiver.js';
import { codeOf, proven, wrongCode } from '../helpers/staff.js';
import { temporalEnvironment, testTemporal, until, workflowOf } from '../helpers/temporal.js';
import { startTestWorker } from '../helpers/temporal-worker.js';
import { actsOn, hire, openGuardedBank, REASON } from '../helpers/temporal-world.js';
import { openWebhookBank, untilDetails } from '../helpers/webhook-world.js';
import { scheduled } from '../transfers/schedules/support.js';

/** A resource that waits, and its workflow. */
interface Target {
  readonly id: Uuid;
  readonly workflow: WorkflowHandle;
  readonly table: string;
}

/** Columns of an endpoint that its own retries change. */
const MOVING =
  'fence failures_in_row lease_until next_due_at waits_until workflow_checked_at'.split(' ');
const SIGNALS = 'approve reject cancel pause resume retry_now'.split(' ');

const db = await testDatabase();
const temporal = await testTemporal();

describe('a staff action by signal', () => {
  let api: TestApi;
  let receiver: HttpReceiver;
  let targets: Readonly<Record<string, () => Promise<Target>>>;

  before(async () => {
    await startTestWorker(db, temporal, { sweeps: false });
    api = await startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' });
    receiver = await new HttpReceiver().open();
    receiver.reply = () => 500;
    const [guarded, payroll, suppliers, paying] = [
      await openGuardedBank(api),
      await openPayrollBank(api),
      await openPayrollBank(api, undefined, 'payout'),
      await openPayoutBank(api),
    ];
    await paying.guard(1);
    const bank = await openBank(api);
    targets = {
      transfer: async () => {
        const id = await guarded.createPending();
        return { id, workflow: workflowOf(temporal, id), table: 'transfers' };
      },
      payout: async () => {
        const id = await paying.createPending();
        return { id, workflow: workflowOf(temporal, id, 'payout'), table: 'payouts' };
      },
      bonus_batch: async () => {
        const id = await payroll.ready(1);
        return { id, workflow: workflowOf(temporal, id, 'bonus_batch'), table: 'batches' };
      },
      payout_batch: async () => {
        const id = await suppliers.ready(1);
        return { id, workflow: workflowOf(temporal, id, 'payout_batch'), table: 'batches' };
      },
      schedule: async () => {
        const id = asUuid(text((await scheduled(bank)).id));
        return { id, workflow: workflowOf(temporal, id, 'schedule'), table: 'schedules' };
      },
      webhook: async () => {
        const own = await openWebhookBank(api, receiver);
        await own.send();
        await untilDetails(temporal, own.id, /^waiting until .* to retry 1 delivery$/);
        return {
          id: own.id,
          workflow: workflowOf(temporal, own.id, 'webhook_endpoint'),
          table: 'webhook_endpoints',
        };
      },
    };
  });
  after(() => receiver.close());

  const rowOf = async ({ table, id }: Target): Promise<unknown> => {
    const [row] = await db.sql(`SELECT * FROM ${table} WHERE id=${idLiteral(id)}`);
    return Object.fromEntries(
      Object.entries(row ?? {}).filter(([column]) => !MOVING.includes(column)),
    );
  };
  /** The last audit line of a signal from this person: the action, and why it was refused. */
  const lineOf = (name: string, { id }: Target): Promise<readonly [string, string | null]> =>
    until('the signal is recorded', async () => {
      const line = (await actsOn(db, id)).findLast(({ actorClaimed }) => actorClaimed === name);
      if (line === undefined) return null;
      const { refused = null } = JSON.parse(line.details) as { refused?: string };
      return [line.action, refused] as const;
    });

  for (const [name, { right }] of Object.entries(STAFF_ACTIONS)) {
    const [type = '', signal = ''] = name.split('.');
    if (!SIGNALS.includes(signal) || type === 'adjustment') continue;

    it(`${name}, is impossible without the right to ${right}, and with it needs the right code`, async () => {
      const target = await targets[type]!();
      const { workflow } = target;
      await until(
        'it waits',
        async () => (await workflow.query('state').catch(() => null)) !== null,
      );
      const keeper = proven(await hire(db.database));
      if (name === 'webhook.resume') await pauseEndpoint(api.core, target.id, keeper);
      if (name === 'schedule.resume')
        await actAsStaff(api.core, target.id, 'pause', keeper, REASON);
      const before = await rowOf(target);
      const others = STAFF_RIGHTS.filter((one) => one !== right);
      for (const [rights, code, why] of [
        [others, codeOf, new RegExp(`lacks the right to ${right}$`)],
        [[right], wrongCode, /^the code is wrong$/],
      ] as const) {
        const who = await hire(db.database, rights);
        const claim = { actor: who.name, reason: REASON, code: code(who, systemClock()) };
        await workflow.signal(signal, claim);
        const [action, refused] = await lineOf(who.name, target);
        assert.equal(action, `${name}_refused`);
        assert.match(refused ?? '', why);
      }
      assert.deepEqual(await rowOf(target), before);
      const who = await hire(db.database, [right]);
      await workflow.signal(signal, { actor: who.name, reason: REASON, code: codeOf(who) });
      const [action, refused] = await lineOf(who.name, target);
      // A batch that is not being executed is neither paused nor resumed: its state alone is the reason.
      if (type.endsWith('_batch') && signal !== 'cancel')
        assert.match(refused ?? '', /^the batch is ready/);
      else assert.deepEqual([action, refused], [name, null]);
      await workflow.terminate('the test is over').catch(() => undefined);
    });
  }
});

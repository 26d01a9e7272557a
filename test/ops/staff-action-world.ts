import { randomUUID } from 'node:crypto';
import type { Uuid } from '../../src/core/ids.js';
import type { Staff } from '../../src/db/entities/staff.js';
import { proposeAdjustment } from '../../src/funding/service.js';
import { proposeResolution } from '../../src/payouts/resolution/resolutions.js';
import { proposeFactorReset } from '../../src/staff/factor-resets.js';
import type { StaffActionName } from '../../src/staff/rules.js';
import { suppliers } from '../batches/payout-support.js';
import { BatchWorld, payroll } from '../batches/support.js';
import type { BatchKindName } from '../../src/db/entities/batches.js';
import { openPayoutBank, railsOf, seen } from '../payouts/support.js';
import type { TestApi } from '../helpers/api.js';
import { answered, type Json, LEAST, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { addStaff, proven, staffPartsOf } from '../helpers/staff.js';
import { openWriter } from '../helpers/world.js';
import { scheduled } from '../transfers/schedules/support.js';
import { words } from './ops.js';

/**
 * Something for each staff action to be done to, and the command that does it. Restores close the database for all others: they are
 * looked at in test/restores.
 */
export type ActionName = Exclude<StaffActionName, `restore.${string}`>;
export type ActionCommands = Readonly<Record<ActionName, readonly string[]>>;

/** `proposer`: who proposed what a second person decides. */
export async function makeStaffActionWorld(
  test: TestDatabase,
  api: TestApi,
  proposer: Staff,
): Promise<ActionCommands> {
  return {
    ...(await transfers(api)),
    ...(await payouts(test, api, proposer)),
    ...(await funding(test, api, proposer)),
    ...(await batches(test)),
    ...(await schedules(api)),
    ...(await webhooks(api)),
    ...(await factors(test, proposer)),
  };
}

const WHY = ['--reason', 'ticket 7'];

async function transfers(api: TestApi) {
  const { createPending, bank, guarded, receiver } = await openGuarded(api);
  const paid = await bank.sent({ from: guarded, to: receiver, raw: 5n * LEAST });
  const act = async (action: string) => [
    'transfers',
    action,
    text((await createPending()).id),
    ...WHY,
  ];
  return {
    'transfer.approve': await act('approve'),
    'transfer.reject': await act('reject'),
    'transfer.cancel': await act('cancel'),
    'transfer.refund': ['transfers', 'refund', text(paid.id), '--amount', '1', ...WHY],
  };
}

async function payouts(test: TestDatabase, api: TestApi, proposer: Staff) {
  const own = await openPayoutBank(api);
  const { writer } = openWriter(test.database);
  const silent = async (): Promise<Uuid> => {
    const id = await own.pay('03');
    await railsOf(test).submissions.submit(id);
    return id;
  };
  const proposed = async (): Promise<Uuid> => {
    const id = await silent();
    const wanted = {
      outcome: 'completed',
      reason: 'on the statement',
      by: proven(proposer),
    } as const;
    await proposeResolution(writer, await seen(test, id), wanted);
    return id;
  };
  const resolve = (id: Uuid, ...more: readonly string[]) => ['payouts', 'resolve', id, ...more];
  const resolutions = {
    'payout.retry': ['payouts', 'retry', await silent(), ...WHY],
    'payout.resolve_propose': resolve(await silent(), '--outcome', 'completed', ...WHY),
    'payout.resolve_approve': resolve(await proposed(), '--approve', ...WHY),
    'payout.resolve_reject': resolve(await proposed(), '--reject', ...WHY),
  };
  await own.guard(1);
  const act = async (action: string) => ['payouts', action, await own.createPending(), ...WHY];
  return {
    ...resolutions,
    'payout.approve': await act('approve'),
    'payout.reject': await act('reject'),
    'payout.cancel': await act('cancel'),
  };
}

async function funding(test: TestDatabase, api: TestApi, proposer: Staff) {
  const { bank, guarded: account } = await openGuarded(api);
  const { id: tenantId } = bank.tenant.tenant;
  const { database } = test;
  const amount = { raw: LEAST, asset: 'COPM' } as const;
  const proposed = async (reference: string): Promise<string> => {
    const wanted = {
      tenantId,
      accountId: account.id,
      direction: 'in',
      amount,
      reason: 'short',
      reference,
    } as const;
    await proposeAdjustment(
      { database, writer: openWriter(database).writer },
      { ...wanted, by: proven(proposer) },
    );
    return reference;
  };
  const money = () => [
    ...words`--account ${account.id} --amount ${LEAST} --asset COPM --reference`,
    randomUUID(),
  ];
  return {
    'payin.record': ['payins', 'record', ...money()],
    'adjustment.propose': ['adjustments', 'propose', 'in', ...money(), ...WHY],
    'adjustment.approve': [
      'adjustments',
      'approve',
      await proposed('matrix-1'),
      '--tenant',
      tenantId,
      ...WHY,
    ],
    'adjustment.reject': [
      'adjustments',
      'reject',
      await proposed('matrix-2'),
      '--tenant',
      tenantId,
      ...WHY,
    ],
  };
}

async function batches(test: TestDatabase) {
  const [bonuses, payouts] = [
    await batchActions(test, 'bonus'),
    await batchActions(test, 'payout'),
  ];
  return {
    'bonus_batch.pause': bonuses[0],
    'bonus_batch.resume': bonuses[1],
    'bonus_batch.cancel': bonuses[2],
    'payout_batch.pause': payouts[0],
    'payout_batch.resume': payouts[1],
    'payout_batch.cancel': payouts[2],
  };
}

async function batchActions(test: TestDatabase, kind: BatchKindName) {
  const world = await BatchWorld.open(test, { kind });
  const payee = await world.account();
  const payer = await world.account({ funds: { COPM: 10n * LEAST } });
  const { id } = await world.executed(
    payer,
    kind === 'payout' ? suppliers({}) : payroll([[payee.id, LEAST.toString(), 'COPM']]),
  );
  const act = (action: string) => ['batches', action, id, ...WHY];
  return [act('pause'), act('resume'), act('cancel')] as const;
}

async function schedules(api: TestApi) {
  const { bank } = await openGuarded(api);
  const [id, paused] = [text((await scheduled(bank)).id), text((await scheduled(bank)).id)];
  answered(await bank.request('POST', `/v1/schedules/${paused}/pause`), 200);
  return {
    'schedule.pause': ['schedules', 'pause', id, ...WHY],
    'schedule.resume': ['schedules', 'resume', paused, ...WHY],
    'schedule.cancel': ['schedules', 'cancel', id, ...WHY],
  };
}

async function webhooks(api: TestApi) {
  const { bank, guarded: from, receiver: to } = await openGuarded(api);
  await bank.sent({ from, to, raw: LEAST });
  const { items } = answered(await bank.request('GET', '/v1/events'), 200).json;
  const [event] = items as Json[];
  // The endpoints begin after the event, so that none will still get it.
  const types = ['account.verified', 'transfer.completed'];
  const body = { url: 'https://example.com/hook', events: types };
  const register = async (): Promise<string> =>
    text(answered(await bank.request('POST', '/v1/webhook_endpoints', { body }), 201).json.id);
  const [endpoint, disabled] = [await register(), await register()];
  await bank.request('PATCH', `/v1/webhook_endpoints/${disabled}`, {
    body: { status: 'disabled' },
  });
  const act = (action: string, ...more: readonly string[]) => [
    'webhooks',
    action,
    endpoint,
    ...more,
  ];
  return {
    'webhook.pause': act('pause', ...WHY),
    'webhook.resume': act('resume', ...WHY),
    'webhook.retry_now': act('retry-now', ...WHY),
    'webhook.recover': act('recover', '--since', new Date(Date.now() - 60_000).toISOString()),
    'webhook.redeliver': ['webhooks', 'redeliver', text(event?.id), ...WHY],
    'webhook.disable': ['webhooks', 'disable', await register(), ...WHY],
    'webhook.enable': ['webhooks', 'enable', disabled, ...WHY],
  };
}

async function factors({ database }: TestDatabase, proposer: Staff) {
  const reset = ['staff', 'reset-factor'];
  const rights = ['read'] as const;
  const [lost, proposed] = [
    await addStaff(database, { name: 'Lost Phone', rights }),
    await addStaff(database, { name: 'Lost Too', rights }),
  ];
  await proposeFactorReset(staffPartsOf(database), proposed, 'lost', proven(proposer));
  return {
    'staff.reset_propose': [...reset, lost.name, ...WHY],
    'staff.reset_approve': [...reset, proposed.name, '--approve'],
  };
}

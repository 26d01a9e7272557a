import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { instant } from '../../src/core/instant.js';
import { STAFF_RIGHTS, type StaffRight } from '../../src/db/entities/staff.js';
import type { Account } from '../../src/db/entities/parties.js';
import { proposeAdjustment } from '../../src/funding/service.js';
import { proposeResolution } from '../../src/payouts/resolution/resolutions.js';
import { asksForCode, STAFF_ACTIONS, type StaffActionName } from '../../src/staff/rules.js';
import { signIn } from '../../src/staff/sessions.js';
import { suppliers } from '../batches/payout-support.js';
import { BatchWorld, payroll } from '../batches/support.js';
import type { BatchKindName } from '../../src/db/entities/batches.js';
import { openPayoutBank, type PayoutBank, seen, submitAndRaise } from '../payouts/support.js';
import { answered, idLiteral, LEAST, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { type GuardedBank, openGuarded } from '../helpers/guarded.js';
import { codeOf, forgetCodes, proven } from '../helpers/staff.js';
import { scheduled } from '../transfers/schedules/support.js';
import { register } from '../webhooks/support.js';
import {
  actFields,
  type DeskWorld,
  type Fields,
  openDesk,
  type TestDesk,
  type Visitor,
} from './desk.js';

/** The target of an action: its page, the last part of its path, and the table that it could change. */
interface Target {
  readonly page: string;
  readonly verb: string;
  readonly id: string;
  readonly fields?: Fields;
  readonly state: string;
}

/** Actions of the command line alone. */
const ELSEWHERE = ['payin.record', 'webhook.enable', 'webhook.disable', 'webhook.recover'] as const;
type DeskActName = Exclude<
  StaffActionName,
  `staff.${string}` | `restore.${string}` | (typeof ELSEWHERE)[number]
>;
const NAMES = (Object.keys(STAFF_ACTIONS) as StaffActionName[]).filter(
  (name): name is DeskActName =>
    !/^(staff|restore)\./.test(name) && !(ELSEWHERE as readonly string[]).includes(name),
);

type Proof = 'none' | 'wrong' | 'used' | 'old' | 'of somebody else' | 'right';
const PROOFS: readonly Proof[] = ['none', 'wrong', 'used', 'old', 'of somebody else', 'right'];

describe('a staff action at the support desk needs exactly the right and the proof of the table:', () => {
  let world: DeskWorld;
  let db: TestDatabase;
  let desk: TestDesk;
  let guarded: GuardedBank;
  let paying: PayoutBank;
  let account: Account;
  let second: Visitor;
  const people = new Map<StaffRight, Visitor>();

  before(async () => {
    world = await openDesk();
    ({ db, desk } = world);
    guarded = await openGuarded(world.api);
    paying = await openPayoutBank(world.api);
    account = await guarded.bank.account();
    second = await desk.staffed('the second');
    for (const right of STAFF_RIGHTS)
      people.set(right, await desk.staffed(`may ${right}`, [right]));
  });

  const table = (name: string, id: string, columns = '*'): string =>
    `SELECT ${columns} FROM ${name} WHERE id=${idLiteral(id)}`;

  async function transfer(verb: string): Promise<Target> {
    const id = text((await guarded.createPending()).id);
    return { page: `/transfers/${id}`, verb, id, state: table('transfers', id) };
  }

  async function payout(verb: string): Promise<Target> {
    await paying.guard();
    const id = await paying.createPending();
    return { page: `/payouts/${id}`, verb, id, state: table('payouts', id) };
  }

  async function resolution(verb: string, isProposed: boolean): Promise<Target> {
    await db.sql('DELETE FROM approval_policies WHERE threshold=100000');
    const id = await paying.pay('03');
    const rails = await submitAndRaise(db, id);
    const by = proven(second.person, 'support');
    if (isProposed)
      await proposeResolution(rails.writer, await seen(db, id), {
        outcome: 'completed',
        reason: 'seen',
        by,
      });
    const state = `SELECT p.status, p.stuck_since, r.status AS proposed FROM payouts p
      LEFT JOIN payout_resolutions r ON r.payout_id=p.id WHERE p.id=${idLiteral(id)}`;
    const { payout: is, contradictions, proposal } = await seen(db, id);
    const fields = {
      outcome: 'completed',
      state: `${is.status} ${contradictions}`,
      resolution: proposal?.id ?? '',
    };
    return { page: `/payouts/${id}`, verb, id, fields, state };
  }

  async function adjustment(verb: string): Promise<Target> {
    const { resource } = await proposeAdjustment(desk.core, {
      ...{ tenantId: account.tenantId, accountId: account.id, direction: 'in' },
      ...{
        amount: { raw: LEAST, asset: 'COPM' },
        reference: randomUUID(),
        reason: 'Paid in twice',
      },
      by: proven(second.person, 'support'),
    });
    const { id } = resource;
    return { page: `/adjustments/${id}`, verb, id, state: table('adjustments', id) };
  }

  const pause = (name: string, id: string): Promise<unknown> =>
    db.sql(`UPDATE ${name} SET paused_at=NOW(3), paused_by='x' WHERE id=${idLiteral(id)}`);

  async function batch(verb: string, kind: BatchKindName): Promise<Target> {
    const batches = await BatchWorld.open(db, { kind });
    await batches.account({ alias: '$ana' });
    const payer = await batches.account({ funds: { COPM: 10n * LEAST } });
    const { id } = await batches.executed(
      payer,
      kind === 'payout' ? suppliers({}) : payroll([['$ana', LEAST.toString(), 'COPM']]),
    );
    if (verb === 'resume') await pause('batches', id);
    return {
      page: `/${kind === 'bonus' ? 'batches' : 'payout_batches'}/${id}`,
      verb,
      id,
      state: table('batches', id),
    };
  }

  async function schedule(verb: string): Promise<Target> {
    const id = text((await scheduled(guarded.bank)).id);
    if (verb === 'resume')
      answered(await guarded.bank.request('POST', `/v1/schedules/${id}/pause`), 200);
    return { page: `/schedules/${id}`, verb, id, state: table('schedules', id, 'status') };
  }

  async function endpoint(verb: string): Promise<Target> {
    const id = text((await register(guarded.bank, ['transfer.completed'])).id);
    if (verb === 'resume') await pause('webhook_endpoints', id);
    const state = table('webhook_endpoints', id, 'paused_at, next_due_at');
    return { page: `/endpoints/${id}`, verb, id, state };
  }

  const TARGETS: Readonly<Record<DeskActName, () => Promise<Target>>> = {
    'transfer.approve': () => transfer('approve'),
    'transfer.reject': () => transfer('reject'),
    'transfer.cancel': () => transfer('cancel'),
    'transfer.refund': async () => {
      const { bank, guarded: from, receiver: to } = guarded;
      const id = text((await bank.sent({ from, to, raw: LEAST })).id);
      const fields = { amount: '0.01' };
      return {
        page: `/transfers/${id}`,
        verb: 'refund',
        id,
        fields,
        state: table('transfers', id),
      };
    },
    'payout.approve': () => payout('approve'),
    'payout.reject': () => payout('reject'),
    'payout.cancel': () => payout('cancel'),
    'payout.retry': async () => {
      const target = await resolution('retry', false);
      const id = idLiteral(target.id);
      const state = `SELECT COUNT(*) AS n FROM payout_rail_events WHERE payout_id=${id}`;
      return { ...target, state };
    },
    'payout.resolve_propose': () => resolution('propose', false),
    'payout.resolve_approve': () => resolution('apply', true),
    'payout.resolve_reject': () => resolution('dismiss', true),
    'adjustment.propose': () => {
      const fields = { direction: 'in', asset: 'COPM', amount: '1000.00', reference: randomUUID() };
      const state = 'SELECT COUNT(*) AS n FROM adjustments';
      const { id } = account;
      return Promise.resolve({ page: `/accounts/${id}`, verb: 'adjust', id, fields, state });
    },
    'adjustment.approve': () => adjustment('approve'),
    'adjustment.reject': () => adjustment('reject'),
    'bonus_batch.pause': () => batch('pause', 'bonus'),
    'bonus_batch.resume': () => batch('resume', 'bonus'),
    'bonus_batch.cancel': () => batch('cancel', 'bonus'),
    'payout_batch.pause': () => batch('pause', 'payout'),
    'payout_batch.resume': () => batch('resume', 'payout'),
    'payout_batch.cancel': () => batch('cancel', 'payout'),
    'schedule.pause': () => schedule('pause'),
    'schedule.resume': () => schedule('resume'),
    'schedule.cancel': () => schedule('cancel'),
    'webhook.pause': () => endpoint('pause'),
    'webhook.resume': () => endpoint('resume'),
    'webhook.retry_now': () => endpoint('retry'),
    'webhook.redeliver': async () => {
      const { bank, guarded: from, receiver: to } = guarded;
      const transferId = text((await bank.sent({ from, to, raw: LEAST })).id);
      // The endpoint begins after the event, so that it will not get it by itself.
      await register(bank, ['transfer.completed']);
      const [event] = await db.sql(
        `SELECT LOWER(HEX(id)) AS id FROM events WHERE resource_id=${idLiteral(transferId)}`,
      );
      const id = text(event?.id).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      const state = 'SELECT COUNT(*) AS n FROM webhook_deliveries';
      return { page: `/events/${id}`, verb: 'resend', id, state };
    },
  };

  async function codeFor({ person }: Visitor, proof: Proof): Promise<string> {
    const now = Date.now();
    const own = [-60_000, -30_000, 0, 30_000, 60_000].map((ms) =>
      codeOf(person, instant(now + ms)),
    );
    switch (proof) {
      case 'none':
        return '';
      case 'wrong':
        return ['000000', '111111'].find((code) => !own.includes(code)) ?? '222222';
      case 'old':
        return codeOf(person, instant(now - 600_000));
      case 'of somebody else':
        return codeOf(second.person);
      case 'used': {
        const code = codeOf(person);
        await signIn(
          { ...desk.core, encryptionKeys: KEYS },
          { name: person.name, code, channel: 'ops', place: 'a test' },
        );
        return code;
      }
      case 'right':
        return codeOf(person);
    }
  }
  const KEYS = [{ id: 'test', secret: Buffer.alloc(32, 7) }] as const;

  /** The form as its page would have it, for those too to whom the page shows none. */
  async function attempt(
    who: Visitor,
    { page, verb, id, fields = {} }: Target,
    proof: Proof,
  ): Promise<number> {
    await forgetCodes(db.sql);
    const code = await codeFor(who, proof);
    const form = { ...actFields(who, verb, id), ...fields, reason: 'ticket 118', code };
    return (await who.post(`${page}/${verb}`, form)).status;
  }

  for (const name of NAMES)
    it(name, async () => {
      const target = await TARGETS[name]();
      const { right: needed } = STAFF_ACTIONS[name];
      const state = async (): Promise<string> => JSON.stringify(await db.sql(target.state));
      const isAsked = asksForCode(name, 'support');
      await db.sql('UPDATE staff SET failed_codes=0, locked_until=NULL');
      const before = await state();
      const known = (await desk.acts(target.id)).length;
      let refusals = 0;
      for (const [right, who] of people)
        for (const proof of PROOFS) {
          const isDone = right === needed && (!isAsked || proof === 'right');
          // A person without the right is refused before any proof is checked.
          if (right !== needed && proof !== 'right' && proof !== 'none') continue;
          if (isDone) continue;
          const status = await attempt(who, target, proof);
          refusals += 1;
          const acts = await desk.acts(target.id);
          const last = acts.at(-1);
          assert.deepEqual(
            [status, acts.length, last?.action, last?.actorClaimed, last?.channel],
            [403, known + refusals, `${name}_refused`, who.person.name, 'support'],
            `${right}, a code that is ${proof}`,
          );
          assert.equal(await state(), before, `${right}, a code that is ${proof}`);
        }
      const who = people.get(needed);
      assert(who !== undefined);
      assert.equal(await attempt(who, target, isAsked ? 'right' : 'none'), 303);
      assert.notEqual(await state(), before);
      if (name !== 'adjustment.propose')
        assert.equal((await desk.acts(target.id)).at(-1)?.action, name);
    });
});

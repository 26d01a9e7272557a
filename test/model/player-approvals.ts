import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setPolicyDelay } from '../../src/approvals/policies.js';
import { asUuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { approvalsOfKind } from '../helpers/guarded.js';
import { proven } from '../helpers/staff.js';
import { someone, TEST_ACTOR } from '../helpers/world.js';
import type { Played, Plays } from './generated.js';
import { type ActorName, type AssetName, ASSETS } from './operations.js';
import { freeze } from './player-operators.js';
import { assertSame, nthOf } from './reading.js';
import { dueAt, isExpiring, type Verb } from './reference-approvals.js';
import type { RefPayment, RefPolicy, RefWaiting } from './reference-state.js';
import type { ModelWorld } from './world.js';

type PolicyPlace = Pick<Played<'no policy'>, 'account' | 'asset' | 'actor'>;

const REASON = 'not agreed';

/** Plays actions on policies and pending resources, on the service and on the reference. */
export class ApprovalPlayer {
  private readonly approved: { readonly id: string; readonly key: string }[] = [];

  constructor(private readonly world: ModelWorld) {}

  readonly plays: Plays<
    | ('policy' | 'policy delay' | 'no policy' | 'read policy')
    | ('act' | 'approve again' | 'staff action' | 'timer' | 'capture' | 'refund')
  > = {
    policy: ({ threshold, approvals, expiresInS, ...where }) =>
      this.setPolicy(where, { threshold, approvals, expiresInS }),
    'no policy': (where) => this.setPolicy(where, null),
    'read policy': async (where) => {
      const { path, account } = this.policyOf(where);
      const answer = await this.world.ask(where.actor, 'GET', path);
      const { approvals } = this.world.ledger;
      assertSame(answer, approvals.readPolicy(where.actor, account, where.asset));
    },
    'policy delay': ({ seconds }) => this.delayPolicies(seconds),
    act: (operation) => this.act(operation),
    'approve again': ({ nth, actor }) => this.approveAgain(nth, actor),
    'staff action': (operation) => this.staffAct(operation),
    timer: (operation) => this.timer(operation),
    capture: (operation) => this.capture(operation),
    refund: (operation) => this.refund(operation),
  };

  private policyOf({ account: number, asset }: PolicyPlace) {
    const account = this.world.ledger.accounts[number] ?? null;
    return {
      account,
      path: `/v1/accounts/${this.world.idOf(number).id}/approval_policies/${asset}`,
    };
  }

  private async setPolicy(where: PolicyPlace, policy: RefPolicy | null): Promise<void> {
    const { actor, asset } = where;
    const { path, account } = this.policyOf(where);
    const body = policy && {
      threshold: policy.threshold.toString(),
      approvals: policy.approvals,
      expires_in_s: policy.expiresInS,
    };
    const answer = await (body === null
      ? this.world.ask(actor, 'DELETE', path)
      : this.world.ask(actor, 'PUT', path, { body }));
    assertSame(answer, this.world.ledger.approvals.setPolicy(actor, account, asset, policy));
  }

  /** From this amount on the owner requires `approvals` approvals. */
  ask(
    account: number,
    asset: AssetName,
    threshold: bigint,
    approvals = 1,
    expiresInS = 3_600,
  ): Promise<void> {
    const where = { account, asset, actor: 'owner' } as const;
    return this.setPolicy(where, { threshold, approvals, expiresInS });
  }

  private async delayPolicies(seconds: number | null): Promise<void> {
    const { ledger, deps } = this.world;
    const tenant = ledger.tenantOf('owner');
    tenant.policyDelayS = seconds ?? 0;
    await setPolicyDelay(deps.database, systemClock, asUuid(tenant.id), seconds, TEST_ACTOR);
  }

  private async act(operation: Played<'act'>): Promise<void> {
    const { verb, nth, actor, isAny, isTwice, meanwhile } = operation;
    const waiting = meanwhile === 'time' ? this.soonest() : this.chosen(nth, isAny);
    if (waiting === undefined) return;
    if (meanwhile === 'time') this.untilDue(waiting);
    if (meanwhile === 'freeze') await freeze(this.world, waiting.source, true);
    await this.actOn(waiting, verb, actor);
    if (isTwice) await this.actOn(waiting, verb, actor);
    if (meanwhile === 'freeze') await freeze(this.world, waiting.source, false);
  }

  private untilDue(waiting: RefWaiting): void {
    const { ledger } = this.world;
    ledger.now = Math.max(ledger.now, dueAt(waiting) ?? 0);
  }

  private async capture({ nth, actor, part, isDue }: Played<'capture'>): Promise<void> {
    const { ledger } = this.world;
    const transfers = ledger.homes.flatMap((home) => home.transfers);
    const held = transfers.filter(({ json }) => json.status === 'held');
    const transfer = nthOf(held.length > 0 ? held : transfers, nth);
    if (transfer === undefined) return;
    if (isDue) this.untilDue(transfer);
    const key = randomUUID();
    const { asset } = transfer;
    const body = part === null ? {} : { amount: { raw: part.toString(), asset } };
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await this.world.ask(actor, 'POST', `${pathOf(transfer)}/capture`, {
        key,
        body,
      });
      assertSame(answer, ledger.transfers.capture(actor, transfer, part, key));
    }
  }

  private async refund({ nth, actor, of, part, isOtherAsset }: Played<'refund'>): Promise<void> {
    const { ledger } = this.world;
    const all = ledger.homes.flatMap((home): readonly RefPayment[] => home[of]);
    const completed = all.filter(({ json }) => json.status === 'completed');
    const original = nthOf(completed.length > 0 && nth % 7 > 0 ? completed : all, nth);
    if (original === undefined) return;
    const asset = ASSETS.find((one) => (one === original.asset) !== isOtherAsset)!;
    const amount = part === null ? null : { raw: part, asset };
    const body = amount === null ? {} : { amount: { raw: amount.raw.toString(), asset } };
    const key = randomUUID();
    const path = `/v1/${of}/${String(original.json.id)}/refunds`;
    for (let turn = 0; turn < 2; turn += 1) {
      const answer = await this.world.ask(actor, 'POST', path, { key, body });
      const made = (): string =>
        typeof answer.json.id === 'string' ? answer.json.id : 'the id of a new refund';
      assertSame(answer, ledger.transfers.refund(actor, original, amount, key, made));
    }
  }

  /** While its source is frozen. */
  async actFrozen(waiting: RefWaiting, verb: Verb, actor: ActorName): Promise<void> {
    const { source } = waiting;
    const wasFrozen = source.isFrozen;
    await freeze(this.world, source, true);
    await this.actOn(waiting, verb, actor);
    await freeze(this.world, source, wasFrozen);
  }

  async actOn(waiting: RefWaiting, verb: Verb, actor: ActorName): Promise<void> {
    const id = String(waiting.json.id);
    const key = verb === 'approve' ? randomUUID() : null;
    const body = verb === 'reject' ? { body: { reason: REASON } } : {};
    const answer = await this.world.ask(actor, 'POST', `${pathOf(waiting)}/${verb}`, {
      key,
      ...body,
    });
    const reason = verb === 'reject' ? REASON : null;
    assertSame(answer, this.world.ledger.approvals.act(verb, actor, waiting, reason, key));
    if (key !== null) this.approved.push({ id, key });
  }

  /** An earlier approval again, with its key, by any member. */
  private async approveAgain(nth: number, actor: ActorName): Promise<void> {
    const earlier = nthOf(this.approved, nth);
    if (earlier === undefined) return;
    const { id, key } = earlier;
    const waiting = this.all().find(({ json }) => json.id === id);
    assert(waiting !== undefined);
    const answer = await this.world.ask(actor, 'POST', `${pathOf(waiting)}/approve`, { key });
    assertSame(answer, this.world.ledger.approvals.act('approve', actor, waiting, null, key));
  }

  private async staffAct({ verb, nth, isStaff, isAny }: Played<'staff action'>): Promise<void> {
    const waiting = this.chosen(nth, isAny);
    if (waiting === undefined) return;
    const { api, ledger, staff } = this.world;
    const who = isStaff ? proven(staff) : someone('nobody');
    const { outcome } = await approvalsOfKind(api, waiting.kind).actByStaff(
      waiting.json.id,
      verb,
      who,
      REASON,
    );
    const expected = ledger.approvals.actByStaff(verb, isStaff, waiting, REASON);
    if (outcome.done) assert.equal(outcome.resource.status, waiting.json.status);
    assert.equal(outcome.done ? undefined : outcome.refusal.code, expected.code);
  }

  private async timer({ nth, isDue }: Played<'timer'>): Promise<void> {
    const waiting = isDue ? this.soonest() : this.chosen(nth, false);
    if (waiting === undefined) return;
    if (isDue) this.untilDue(waiting);
    const { status } = await approvalsOfKind(this.world.api, waiting.kind).expire(
      String(waiting.json.id),
    );
    assert.equal(status, this.world.ledger.approvals.expire(waiting));
  }

  /** Of those that wait the one that expires first. */
  private soonest(): RefWaiting | undefined {
    const waiting = this.all().filter(isExpiring);
    return waiting.sort((a, b) => (dueAt(a) ?? 0) - (dueAt(b) ?? 0))[0];
  }

  private all(): RefWaiting[] {
    return this.world.ledger.homes.flatMap(({ transfers: one, payouts: other }) => [
      ...one,
      ...other,
    ]);
  }

  /** One that waits, or any that there is. */
  private chosen(nth: number, isAny: boolean): RefWaiting | undefined {
    return nthOf(
      this.all().filter((waiting) => isAny || isExpiring(waiting)),
      nth,
    );
  }
}

function pathOf({ kind, json }: RefWaiting): string {
  return `/v1/${kind}s/${String(json.id)}`;
}

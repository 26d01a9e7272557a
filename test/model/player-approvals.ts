import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { setPolicyDelay } from '../../src/approvals/policy-delay.js';
import { asUuid } from '../../src/core/ids.js';
import { systemClock } from '../../src/core/instant.js';
import { transfers } from '../../src/db/entities/operations.js';
import { approvalsOf } from '../support/guarded.js';
import { someone, TEST_ACTOR } from '../support/world.js';
import { ACTORS, type ActorName, type Operation } from './operations.js';
import { assertSame } from './reads.js';
import type { Verb } from './reference-approvals.js';
import type { RefAccount, RefTransfer } from './reference-state.js';
import type { ModelWorld } from './world.js';
import { proven } from '../support/staff.js';

export type ApprovalOperation = Extract<
  Operation,
  { op: 'policy' | 'policy delay' | 'no policy' | 'read policy' | 'act' | 'approve again' | 'staff act' | 'timer' }
>;

const REASON = 'not agreed';

/** What is done with policies and with what waits, to the service and to the reference. */
export class ApprovalPlayer {
  private readonly approved: { readonly id: string; readonly key: string }[] = [];

  constructor(private readonly world: ModelWorld) {}

  play(operation: ApprovalOperation): Promise<void> {
    switch (operation.op) {
      case 'policy':
      case 'no policy':
      case 'read policy':
        return this.policy(operation);
      case 'policy delay':
        return this.delayPolicies(operation.seconds);
      case 'act':
        return this.act(operation);
      case 'approve again':
        return this.approveAgain(operation.nth, operation.actor);
      case 'staff act':
        return this.staffAct(operation);
      case 'timer':
        return this.timer(operation);
    }
  }

  private async policy(
    operation: Extract<Operation, { op: 'policy' }> | Extract<Operation, { op: 'no policy' | 'read policy' }>,
  ): Promise<void> {
    const { account: number, asset, actor } = operation;
    const { ledger } = this.world;
    const account = ledger.accounts[number] ?? null;
    const path = `/v1/accounts/${this.world.idOf(number).id}/approval_policies/${asset}`;
    if (operation.op === 'read policy')
      return assertSame(await this.world.ask(actor, 'GET', path), ledger.approvals.readPolicy(actor, account, asset));
    if (operation.op !== 'policy')
      return assertSame(
        await this.world.ask(actor, 'DELETE', path),
        ledger.approvals.setPolicy(actor, account, asset, null),
      );
    const { threshold, approvals, expiresInS } = operation;
    const body = { threshold: threshold.toString(), approvals, expires_in_s: expiresInS };
    const answer = await this.world.ask(actor, 'PUT', path, { body });
    assertSame(answer, ledger.approvals.setPolicy(actor, account, asset, { threshold, approvals, expiresInS }));
  }

  private async delayPolicies(seconds: number | null): Promise<void> {
    const { ledger, parts } = this.world;
    const tenant = ledger.tenantOf('owner');
    tenant.policyDelayS = seconds ?? 0;
    await setPolicyDelay(parts.database, systemClock, asUuid(tenant.id), seconds, TEST_ACTOR);
  }

  private async act(operation: Extract<Operation, { op: 'act' }>): Promise<void> {
    const { verb, nth, actor, isAny, isTwice, meanwhile } = operation;
    const transfer = meanwhile === 'time' ? this.soonest() : this.chosen(nth, isAny);
    if (transfer === undefined) return;
    if (meanwhile === 'time') this.untilDue(transfer);
    if (meanwhile === 'freeze') await this.freeze(transfer.source, true);
    await this.actOn(transfer, verb, actor);
    if (isTwice) await this.actOn(transfer, verb, actor);
    if (meanwhile === 'freeze') await this.freeze(transfer.source, false);
  }

  private untilDue({ approval }: RefTransfer): void {
    const { ledger } = this.world;
    ledger.now = Math.max(ledger.now, approval?.expiresAt ?? 0);
  }

  private async freeze(account: RefAccount, isFrozen: boolean): Promise<void> {
    const change = isFrozen ? freezeAccount : unfreezeAccount;
    const decided = { actor: TEST_ACTOR, reason: null };
    await change(this.world.parts.database, systemClock, asUuid(account.id), decided);
    account.isFrozen = isFrozen;
  }

  private async actOn(transfer: RefTransfer, verb: Verb, actor: ActorName): Promise<void> {
    const id = String(transfer.json.id);
    const key = verb === 'approve' ? randomUUID() : null;
    const body = verb === 'reject' ? { body: { reason: REASON } } : {};
    const answer = await this.world.ask(actor, 'POST', `/v1/transfers/${id}/${verb}`, { key, ...body });
    const reason = verb === 'reject' ? REASON : null;
    assertSame(answer, this.world.ledger.approvals.act(verb, actor, transfer, reason, key));
    if (key !== null) this.approved.push({ id, key });
  }

  /** An earlier approve once more, with its key, by whomever. */
  private async approveAgain(nth: number, actor: ActorName): Promise<void> {
    const earlier = this.approved[nth % Math.max(1, this.approved.length)];
    if (earlier === undefined) return;
    const { id, key } = earlier;
    const transfer = this.all().find(({ json }) => json.id === id);
    assert(transfer !== undefined);
    const answer = await this.world.ask(actor, 'POST', `/v1/transfers/${id}/approve`, { key });
    assertSame(answer, this.world.ledger.approvals.act('approve', actor, transfer, null, key));
  }

  private async staffAct({ verb, nth, isStaff, isAny }: Extract<Operation, { op: 'staff act' }>): Promise<void> {
    const transfer = this.chosen(nth, isAny);
    if (transfer === undefined) return;
    const { api, ledger, staff } = this.world;
    const row = await api.core.database.reader.find(transfers, { id: asUuid(String(transfer.json.id)) });
    assert(row !== undefined);
    const { outcome } = await approvalsOf(api).actByStaff(
      row,
      verb,
      isStaff ? proven(staff) : someone('nobody'),
      REASON,
    );
    const expected = ledger.approvals.actByStaff(verb, isStaff, transfer, REASON);
    if (outcome.done) assert.equal(outcome.resource.status, transfer.json.status);
    assert.equal(outcome.done ? undefined : outcome.refusal.code, expected.code);
  }

  private async timer({ nth, isDue }: Extract<Operation, { op: 'timer' }>): Promise<void> {
    const transfer = isDue ? this.soonest() : this.chosen(nth, false);
    if (transfer === undefined) return;
    if (isDue) this.untilDue(transfer);
    const { status } = await approvalsOf(this.world.api).expire(String(transfer.json.id));
    assert.equal(status, this.world.ledger.approvals.expire(transfer));
  }

  /** Of those that wait the one that expires first. */
  private soonest(): RefTransfer | undefined {
    const waiting = this.all().filter(({ json }) => json.status === 'pending_approval');
    return waiting.sort((a, b) => (a.approval?.expiresAt ?? 0) - (b.approval?.expiresAt ?? 0))[0];
  }

  private all(): RefTransfer[] {
    return [...new Set(ACTORS.map((actor) => this.world.ledger.tenantOf(actor)))].flatMap((tenant) => tenant.transfers);
  }

  /** One that waits, or any that there is. */
  private chosen(nth: number, isAny: boolean): RefTransfer | undefined {
    const some = this.all().filter(({ json }) => isAny || json.status === 'pending_approval');
    return some[nth % Math.max(1, some.length)];
  }
}

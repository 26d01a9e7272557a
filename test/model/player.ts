import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { grantRole, removeRole } from '../../src/access/members.js';
import { removeFeeSchedule, setFeeAccount, setFeeSchedule } from '../../src/accounts/fee-schedules.js';
import { freezeAccount, unfreezeAccount } from '../../src/accounts/status.js';
import { ApiError } from '../../src/core/errors.js';
import { asUuid } from '../../src/core/ids.js';
import type { Role } from '../../src/core/permissions.js';
import { approveAdjustment, proposeAdjustment } from '../../src/funding/adjustments.js';
import { recordPayIn } from '../../src/funding/pay-ins.js';
import { VERIFICATION } from '../access/matrix-endpoints.js';
import type { RequestOptions, TestAnswer } from '../support/api.js';
import { transferBody } from '../support/bank.js';
import type { ActorName, Operation, TransferOperation } from './operations.js';
import { assertSame, ModelReads, type Sent } from './reads.js';
import { ApprovalPlayer } from './player-approvals.js';
import { BonusPlayer } from './player-bonuses.js';
import { type Expected, fieldDetails, type RefAccount } from './reference-state.js';
import type { ModelWorld } from './world.js';
import { someone, TEST_ACTOR } from '../support/world.js';
import { systemClock } from '../../src/core/instant.js';

/** What has fees, the same for both. */
const CHARGED = ['transfer', 'bonus'] as const;
/** Near the largest amount that there is. */
const MOST = 2n ** 62n;

/** Does what an operation says, to the service and to the reference, and finds every difference between their answers. */
export class Player {
  private readonly reads: ModelReads;
  private readonly approvals: ApprovalPlayer;
  private readonly bonuses: BonusPlayer;
  private readonly sent: Sent[] = [];
  private lastPayIn: Parameters<typeof recordPayIn>[1] | null = null;
  private references = 0;

  constructor(private readonly world: ModelWorld) {
    this.reads = new ModelReads(world);
    this.approvals = new ApprovalPlayer(world);
    this.bonuses = new BonusPlayer(world);
  }

  async play(operation: Operation): Promise<void> {
    switch (operation.op) {
      case 'transfer':
        return this.transfer(operation, randomUUID());
      case 'sweep':
        return this.sweep(operation);
      case 'again':
        return this.earlier(operation.nth, ({ wanted, key }) =>
          this.transfer({ ...wanted, actor: operation.actor }, key),
        );
      case 'key reused':
        return this.earlier(operation.nth, ({ wanted, key }) =>
          // Less where more would be no amount any more.
          this.transfer(
            {
              ...wanted,
              actor: operation.actor,
              raw: wanted.raw + (wanted.raw < MOST ? operation.more : -operation.more),
            },
            key,
          ),
        );
      case 'malformed':
        return this.malformed(operation.what);
      case 'pay in':
        return this.payIn(operation);
      case 'pay in again':
        return this.payInAgain(operation.isSame);
      case 'adjust':
        return this.adjust(operation);
      case 'verify':
        return this.verify(operation);
      case 'time passes':
        this.world.ledger.now += operation.ms;
        return;
      case 'freeze':
      case 'role':
      case 'fee account':
      case 'fee':
      case 'no fee':
        return this.manage(operation);
      case 'policy':
      case 'policy delay':
      case 'no policy':
      case 'read policy':
      case 'act':
      case 'approve again':
      case 'staff act':
      case 'timer':
        return this.approvals.play(operation);
      case 'pend':
        return this.pend(operation);
      case 'bonus':
      case 'bonus again':
        return this.bonuses.play(operation);
      default:
        return this.reads.read(operation, this.sent);
    }
  }

  /** Everything that can be seen at the end. */
  finish(): Promise<void> {
    return this.reads.everything();
  }

  private async earlier(nth: number, again: (sent: Sent) => Promise<void>): Promise<void> {
    const sent = this.sent[nth % Math.max(1, this.sent.length)];
    if (sent !== undefined) await again(sent);
  }

  private ask(actor: ActorName, method: string, path: string, options: RequestOptions = {}): Promise<TestAnswer> {
    return this.world.ask(actor, method, path, options);
  }

  private async transfer(wanted: TransferOperation, key: string): Promise<void> {
    const { actor, from, to, raw, asset, description } = wanted;
    const body = transferBody({ from: this.world.idOf(from), to: this.world.idOf(to), raw, asset, description });
    const answer = await this.ask(actor, 'POST', '/v1/transfers', { body, key });
    const made = (): string => (typeof answer.json.id === 'string' ? answer.json.id : 'the id of a new transfer');
    assertSame(answer, this.world.ledger.transfer(wanted, key, made));
    this.sent.push({ wanted, key });
  }

  private async sweep({ from, to, asset, more }: Extract<Operation, { op: 'sweep' }>): Promise<void> {
    const raw = this.world.account(from).balances[asset] + more;
    const wanted = {
      op: 'transfer',
      actor: 'owner',
      from,
      to,
      asset,
      raw: raw < 0n ? 0n : raw,
      description: null,
    } as const;
    await this.transfer(wanted, randomUUID());
  }

  private async pend(operation: Extract<Operation, { op: 'pend' }>): Promise<void> {
    const { from, to, asset, raw, approvals, expiresInS, role } = operation;
    await this.payIn({ op: 'pay in', account: from, asset, raw: 2n * raw });
    const policy = { account: from, asset, actor: 'owner', threshold: 0n, approvals, expiresInS } as const;
    await this.approvals.play({ op: 'policy', ...policy });
    await this.manage({ op: 'role', account: from, role });
    await this.transfer({ op: 'transfer', actor: 'owner', from, to, asset, raw, description: null }, randomUUID());
  }

  private async malformed(what: Extract<Operation, { op: 'malformed' }>['what']): Promise<void> {
    const good = transferBody({ from: this.world.idOf(0), to: this.world.idOf(1), raw: 100_000n });
    const post = (body: unknown, key?: null): Promise<TestAnswer> =>
      this.ask('owner', 'POST', '/v1/transfers', { body, ...(key === null ? { key } : {}) });
    const invalid = (field: string, reason: string): Expected => ({
      status: 400,
      code: 'invalid_field',
      details: fieldDetails(field, reason),
    });
    switch (what) {
      case 'no key':
        return assertSame(await post(good, null), { status: 400, code: 'missing_idempotency_key' });
      case 'no amount': {
        const errors = [{ code: 'missing_field', field: 'amount', reason: 'required' }];
        const answer = await post({ ...good, amount: null });
        return assertSame(answer, { status: 400, code: 'missing_field', details: { field: 'amount', errors } });
      }
      case 'decimals':
        return assertSame(
          await post({ ...good, amount: { raw: '100000.5', asset: 'COPM' } }),
          invalid('amount.raw', 'not_an_integer_string'),
        );
      case 'unknown field':
        return assertSame(await post({ ...good, memo: 'x' }), invalid('memo', 'unknown'));
      case 'no JSON':
        return assertSame(await post('{'), invalid('', 'not_json'));
      case 'to itself':
        return assertSame(
          await post({ ...good, destination: { type: 'account', account_id: good.source_account } }),
          invalid('destination.account_id', 'same_as_source'),
        );
    }
  }

  private async payIn({ account: number, asset, raw }: Extract<Operation, { op: 'pay in' }>): Promise<void> {
    const account = this.world.account(number);
    const wanted = {
      tenantId: asUuid(account.tenant),
      accountId: asUuid(account.id),
      amount: { raw, asset },
      reference: `pay-in-${(this.references += 1)}`,
      description: `pay-in ${this.references}`,
      by: someone('one'),
    };
    const { resource, replayed } = await recordPayIn(this.world.parts, wanted);
    assert.equal(replayed, false);
    this.lastPayIn = wanted;
    this.world.ledger.enterFromSystem(account, 'payin_in', {
      raw,
      asset,
      id: resource.id,
      description: wanted.description,
    });
  }

  private async payInAgain(isSame: boolean): Promise<void> {
    if (this.lastPayIn === null) return;
    const { amount } = this.lastPayIn;
    const again = isSame ? this.lastPayIn : { ...this.lastPayIn, amount: { ...amount, raw: amount.raw + 1n } };
    const outcome = await codeOf(recordPayIn(this.world.parts, again).then(({ replayed }) => assert(replayed)));
    assert.equal(outcome, isSame ? null : 'idempotency_key_reused');
  }

  private async adjust(operation: Extract<Operation, { op: 'adjust' }>): Promise<void> {
    const { account: number, asset, raw, direction, isPosted } = operation;
    const account = this.world.account(number);
    const reference = `adjustment-${(this.references += 1)}`;
    const { resource } = await proposeAdjustment(this.world.parts, {
      tenantId: asUuid(account.tenant),
      accountId: asUuid(account.id),
      direction,
      amount: { raw, asset },
      reference,
      reason: reference,
      by: someone('one'),
    });
    assert.equal(await codeOf(approveAdjustment(this.world.parts, resource, someone('one'))), 'authority_insufficient');
    if (!isPosted) return;
    const outcome = await codeOf(approveAdjustment(this.world.parts, resource, someone('another')));
    if (direction === 'out' && account.balances[asset] < raw) return assert.equal(outcome, 'insufficient_funds');
    assert.equal(outcome, null);
    const kind = direction === 'in' ? 'adjustment_in' : 'adjustment_out';
    this.world.ledger.enterFromSystem(account, kind, { raw, asset, id: resource.id, description: reference });
  }

  private async verify({ account: number, actor }: Extract<Operation, { op: 'verify' }>): Promise<void> {
    const known = this.world.ledger.accounts[number] ?? null;
    const body = { ...VERIFICATION, type: known?.type ?? 'business' };
    const path = `/v1/accounts/${this.world.idOf(number).id}/verification`;
    const answer = await this.ask(actor, 'PUT', path, { body });
    const own = this.world.ledger.own(actor, known, ['admin', 'owner']);
    assertSame(answer, 'status' in own ? own : this.world.ledger.verify(own, VERIFICATION.document_number.slice(-4)));
  }

  /** What operators set, by the service's own functions. */
  private async manage(
    operation: Extract<Operation, { op: 'freeze' | 'role' | 'fee account' | 'fee' | 'no fee' }>,
  ): Promise<void> {
    const { ledger, clerk, parts } = this.world;
    const tenant = ledger.tenantOf('owner');
    const tenantId = asUuid(tenant.id);
    switch (operation.op) {
      case 'freeze':
        return this.freeze(this.world.account(operation.account), operation.isFrozen);
      case 'role': {
        const account = this.world.account(operation.account);
        if (operation.role === null)
          await removeRole(parts.database, systemClock, clerk, asUuid(account.id), TEST_ACTOR);
        else
          await grantRole(parts.database, systemClock, clerk, asUuid(account.id), operation.role as Role, TEST_ACTOR);
        account.clerkRole = operation.role;
        return;
      }
      case 'fee account':
        tenant.feeAccount = this.world.account(operation.account);
        await setFeeAccount(parts.database, systemClock, tenantId, asUuid(tenant.feeAccount.id), TEST_ACTOR);
        return;
      case 'fee': {
        const { asset, flat, basisPoints, cap } = operation;
        const schedule = { flatRaw: flat, basisPoints, floorRaw: 0n, capRaw: cap };
        for (const charged of CHARGED) {
          const wanted = { tenantId, operation: charged, asset, ...schedule };
          const setting = setFeeSchedule(parts.database, systemClock, wanted, TEST_ACTOR);
          assert.equal(await codeOf(setting), tenant.feeAccount === null ? 'invalid_state' : null);
        }
        if (tenant.feeAccount !== null) tenant.fees.set(asset, { flat, basisPoints, cap });
        return;
      }
      case 'no fee': {
        const { asset } = operation;
        const wasThere = tenant.fees.delete(asset);
        for (const charged of CHARGED) {
          const schedule = { tenantId, operation: charged, asset } as const;
          assert.equal(await removeFeeSchedule(parts.database, systemClock, schedule, TEST_ACTOR), wasThere);
        }
      }
    }
  }

  private async freeze(account: RefAccount, isFrozen: boolean): Promise<void> {
    const change = isFrozen ? freezeAccount : unfreezeAccount;
    const decided = { actor: TEST_ACTOR, reason: null };
    const { changed } = await change(this.world.parts.database, systemClock, asUuid(account.id), decided);
    assert.equal(changed, account.isFrozen !== isFrozen);
    account.isFrozen = isFrozen;
  }
}

/** The error code that an operator's command ends with; null for none. */
async function codeOf(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (failure) {
    if (!(failure instanceof ApiError)) throw failure;
    return failure.refusal.code;
  }
}

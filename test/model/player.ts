import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asUuid } from '../../src/core/ids.js';
import { approveAdjustment, proposeAdjustment, recordPayIn } from '../../src/funding/service.js';
import { VERIFICATION } from '../access/matrix-endpoints.js';
import type { RequestOptions, TestAnswer } from '../support/api.js';
import { transferBody } from '../support/bank.js';
import type { ActorName, AssetName, Operation, TransferOperation } from './operations.js';
import type { PayoutWay } from './operations-payouts.js';
import { ApprovalPlayer } from './player-approvals.js';
import { BatchPlayer } from './player-batches.js';
import { BonusPlayer } from './player-bonuses.js';
import { codeOf, manage } from './player-operators.js';
import { PayoutPlayer } from './player-payouts.js';
import { assertSame, nthOf } from './reading.js';
import { ModelReads } from './reads.js';
import { type Expected, fieldDetails, limitsOf } from './reference-state.js';
import type { ModelWorld } from './world.js';
import { someone } from '../support/world.js';

/** A request that was made before. */
interface Sent {
  readonly wanted: TransferOperation;
  readonly key: string;
}

/** Near the largest amount that there is. */
const MOST = 2n ** 62n;
/** Beyond every limit: a policy that asks for nothing. */
const NEVER = 10n ** 12n;
const WAITING_WAYS: readonly PayoutWay[] = ['approved', 'refused', 'rejected', 'canceled'];

/** Does what an operation says, to the service and to the reference, and finds every difference between their answers. */
export class Player {
  private readonly reads: ModelReads;
  private readonly approvals: ApprovalPlayer;
  private readonly bonuses: BonusPlayer;
  private readonly payouts: PayoutPlayer;
  private readonly batches: BatchPlayer;
  private readonly sent: Sent[] = [];
  private lastPayIn: Parameters<typeof recordPayIn>[1] | null = null;
  private references = 0;

  constructor(private readonly world: ModelWorld) {
    this.reads = new ModelReads(world);
    this.approvals = new ApprovalPlayer(world);
    this.bonuses = new BonusPlayer(world);
    this.payouts = new PayoutPlayer(world);
    this.batches = new BatchPlayer(world);
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
        return manage(this.world, operation);
      case 'policy':
      case 'policy delay':
      case 'no policy':
      case 'read policy':
      case 'act':
      case 'approve again':
      case 'staff action':
      case 'timer':
        return this.approvals.play(operation);
      case 'pend':
        return this.pend(operation);
      case 'bonus':
      case 'bonus again':
        return this.bonuses.play(operation);
      case 'payout':
      case 'payout again':
      case 'cancel approved':
      case 'hand over':
      case 'callback':
      case 'callback again':
        return this.payouts.play(operation);
      case 'pay out':
        return this.payOut(operation);
      case 'upload':
      case 'upload again':
      case 'validate':
      case 'execute':
      case 'execute again':
      case 'pay rows':
      case 'withdraw':
      case 'steer':
      case 'lapse':
        return this.batches.play(operation);
      case 'batch':
        return this.batch(operation);
      default:
        return this.reads.read(operation);
    }
  }

  /** Everything that can be seen at the end. */
  finish(): Promise<void> {
    return this.reads.everything();
  }

  private async earlier(nth: number, again: (sent: Sent) => Promise<void>): Promise<void> {
    const sent = nthOf(this.sent, nth);
    if (sent !== undefined) await again(sent);
  }

  private ask(
    actor: ActorName,
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<TestAnswer> {
    return this.world.ask(actor, method, path, options);
  }

  private async transfer(wanted: TransferOperation, key: string): Promise<void> {
    const { actor, from, to, raw, asset, description } = wanted;
    const body = transferBody({
      from: this.world.idOf(from),
      to: this.world.idOf(to),
      raw,
      asset,
      description,
    });
    const answer = await this.ask(actor, 'POST', '/v1/transfers', { body, key });
    const made = (): string =>
      typeof answer.json.id === 'string' ? answer.json.id : 'the id of a new transfer';
    assertSame(answer, this.world.ledger.transfers.create(wanted, key, made));
    this.sent.push({ wanted, key });
    this.world.keys.push({ what: 'transfers', key });
  }

  private async sweep({
    from,
    to,
    asset,
    more,
  }: Extract<Operation, { op: 'sweep' }>): Promise<void> {
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
    const { what, from, to, asset, raw, approvals, expiresInS, role } = operation;
    await this.fund(from, asset, raw);
    await this.approvals.ask(from, asset, 0n, approvals, expiresInS);
    await manage(this.world, { op: 'role', account: from, role });
    const wanted = { actor: 'owner', from, asset, raw, description: null } as const;
    if (what === 'payout') return this.payouts.play({ op: 'payout', ...wanted });
    await this.transfer({ op: 'transfer', ...wanted, to }, randomUUID());
  }

  private async payOut(operation: Extract<Operation, { op: 'pay out' }>): Promise<void> {
    const { from, asset, raw, role, way, words } = operation;
    await this.fund(from, asset, raw);
    await manage(this.world, { op: 'role', account: from, role });
    const waits = WAITING_WAYS.includes(way);
    await this.approvals.ask(from, asset, waits ? 0n : NEVER);
    await this.payouts.play({ op: 'payout', actor: 'owner', from, asset, raw, description: null });
    const payout = this.payouts.last;
    if (payout === undefined) return;
    if (way === 'refused') await this.approvals.actFrozen(payout, 'approve', 'clerk');
    else if (way === 'rejected') await this.approvals.actOn(payout, 'reject', 'clerk');
    else if (way === 'canceled' || way === 'canceled once approved')
      await this.approvals.actOn(payout, 'cancel', 'owner');
    else if (way === 'approved') await this.approvals.actOn(payout, 'approve', 'clerk');
    await this.payouts.goOn(payout, way, words);
  }

  private async batch(operation: Extract<Operation, { op: 'batch' }>): Promise<void> {
    const { from, asset, rows, role, last, way } = operation;
    for (const { raw } of rows) await this.fund(from, asset, raw);
    await manage(this.world, { op: 'role', account: from, role });
    if (way === 'by its uploader') await this.approvals.ask(from, asset, 0n);
    const source = this.world.account(from);
    const others = last === 'rest' ? rows.reduce((sum, { raw }) => sum + raw, 0n) : 0n;
    const [left, { maximum }] = [source.balances[asset] - others, limitsOf(source, asset)];
    const all =
      last === null ? rows : [...rows, { ...rows[0]!, raw: left < maximum ? left : maximum }];
    const upload = {
      actor: 'owner',
      from,
      asset,
      description: null,
      rows: all,
      hasAmounts: true,
    } as const;
    await this.batches.play({ op: 'upload', ...upload });
    await this.batches.goOn(way);
  }

  /** With as much again, so that there is enough for a fee. */
  private fund(account: number, asset: AssetName, raw: bigint): Promise<void> {
    return this.payIn({ op: 'pay in', account, asset, raw: 2n * raw });
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
        return assertSame(answer, {
          status: 400,
          code: 'missing_field',
          details: { field: 'amount', errors },
        });
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
          await post({
            ...good,
            destination: { type: 'account', account_id: good.source_account },
          }),
          invalid('destination.account_id', 'same_as_source'),
        );
    }
  }

  private async payIn({
    account: number,
    asset,
    raw,
  }: Extract<Operation, { op: 'pay in' }>): Promise<void> {
    const account = this.world.account(number);
    const wanted = {
      tenantId: asUuid(account.tenant),
      accountId: asUuid(account.id),
      amount: { raw, asset },
      reference: `pay-in-${(this.references += 1)}`,
      description: `pay-in ${this.references}`,
      by: someone('one'),
    };
    const { resource, replayed } = await recordPayIn(this.world.deps, wanted);
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
    const again = isSame
      ? this.lastPayIn
      : { ...this.lastPayIn, amount: { ...amount, raw: amount.raw + 1n } };
    const outcome = await codeOf(
      recordPayIn(this.world.deps, again).then(({ replayed }) => assert(replayed)),
    );
    assert.equal(outcome, isSame ? null : 'idempotency_key_reused');
  }

  private async adjust(operation: Extract<Operation, { op: 'adjust' }>): Promise<void> {
    const { account: number, asset, raw, direction, isPosted } = operation;
    const account = this.world.account(number);
    const reference = `adjustment-${(this.references += 1)}`;
    const { resource } = await proposeAdjustment(this.world.deps, {
      tenantId: asUuid(account.tenant),
      accountId: asUuid(account.id),
      direction,
      amount: { raw, asset },
      reference,
      reason: reference,
      by: someone('one'),
    });
    assert.equal(
      await codeOf(approveAdjustment(this.world.deps, resource, someone('one'))),
      'authority_insufficient',
    );
    if (!isPosted) return;
    const outcome = await codeOf(approveAdjustment(this.world.deps, resource, someone('another')));
    if (direction === 'out' && account.balances[asset] < raw)
      return assert.equal(outcome, 'insufficient_funds');
    assert.equal(outcome, null);
    const kind = direction === 'in' ? 'adjustment_in' : 'adjustment_out';
    this.world.ledger.enterFromSystem(account, kind, {
      raw,
      asset,
      id: resource.id,
      description: reference,
    });
  }

  private async verify({
    account: number,
    actor,
  }: Extract<Operation, { op: 'verify' }>): Promise<void> {
    const known = this.world.ledger.accounts[number] ?? null;
    const body = { ...VERIFICATION, type: known?.type ?? 'business' };
    const path = `/v1/accounts/${this.world.idOf(number).id}/verification`;
    const answer = await this.ask(actor, 'PUT', path, { body });
    const own = this.world.ledger.own(actor, known, ['admin', 'owner']);
    assertSame(
      answer,
      'status' in own ? own : this.world.ledger.verify(own, VERIFICATION.document_number.slice(-4)),
    );
  }
}

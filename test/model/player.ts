import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { asUuid } from '../../src/core/ids.js';
import { approveAdjustment, proposeAdjustment, recordPayIn } from '../../src/funding/service.js';
import { VERIFICATION } from '../access/matrix-endpoints.js';
import type { RequestOptions, TestAnswer } from '../helpers/api.js';
import { transferBody } from '../helpers/bank.js';
import type { Operation, Played, Plays } from './generated.js';
import type { PayoutWay } from './generated-payouts.js';
import type { ActorName, AssetName } from './operations.js';
import { ApprovalPlayer } from './player-approvals.js';
import { BatchPlayer } from './player-batches.js';
import { BonusPlayer } from './player-bonuses.js';
import { codeOf, managing } from './player-operators.js';
import { labelling } from './player-metadata.js';
import { PayoutPlayer } from './player-payouts.js';
import { scheduling } from './player-schedules.js';
import { assertSame, nthOf } from './reading.js';
import { ModelReads } from './reads.js';
import { invalidField, limitsOf } from './reference-state.js';
import type { ModelWorld } from './world.js';
import { someone } from '../helpers/world.js';

/** A request that was made before. */
interface Sent {
  readonly wanted: Played<'transfer'>;
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
  private readonly operators: ReturnType<typeof managing>;
  private readonly plays: Plays<Operation['op']>;
  private readonly sent: Sent[] = [];
  private lastPayIn: Parameters<typeof recordPayIn>[1] | null = null;
  private references = 0;

  constructor(private readonly world: ModelWorld) {
    const reads = (this.reads = new ModelReads(world));
    this.approvals = new ApprovalPlayer(world);
    this.bonuses = new BonusPlayer(world);
    this.payouts = new PayoutPlayer(world);
    this.batches = new BatchPlayer(world);
    this.operators = managing(world);
    this.plays = {
      ...{ ...reads.plays, ...this.approvals.plays, ...this.bonuses.plays, ...this.operators },
      ...{ ...this.payouts.plays, ...this.batches.plays, ...labelling(world) },
      ...scheduling(world),
      transfer: (wanted) => this.transfer(wanted, randomUUID()),
      sweep: (operation) => this.sweep(operation),
      again: ({ nth, actor }) => this.earlier(nth, actor, 0n),
      'key reused': ({ nth, actor, more }) => this.earlier(nth, actor, more),
      malformed: ({ what }) => this.malformed(what),
      'pay in': (operation) => this.payIn(operation),
      'pay in again': ({ isSame }) => this.payInAgain(isSame),
      adjust: (operation) => this.adjust(operation),
      verify: (operation) => this.verify(operation),
      'time passes': ({ ms }) => Promise.resolve(void (world.ledger.now += ms)),
      createPending: (operation) => this.createPending(operation),
      'pay out': (operation) => this.payOut(operation),
      batch: (operation) => this.batch(operation),
    };
  }

  play(operation: Operation): Promise<void> {
    return (this.plays[operation.op] as (own: Operation) => Promise<void>)(operation);
  }

  /** Everything that can be seen at the end. */
  finish(): Promise<void> {
    return this.reads.everything();
  }

  private async earlier(nth: number, actor: ActorName, more: bigint): Promise<void> {
    const sent = nthOf(this.sent, nth);
    if (sent === undefined) return;
    const { raw } = sent.wanted;
    // Less where more would be no amount any more.
    const changed = raw + (raw < MOST ? more : -more);
    await this.transfer({ ...sent.wanted, actor, raw: changed }, sent.key);
  }

  private ask(
    actor: ActorName,
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<TestAnswer> {
    return this.world.ask(actor, method, path, options);
  }

  private async transfer(wanted: Played<'transfer'>, key: string): Promise<void> {
    const { actor, from, to, raw, asset, description, metadata, captureWithinS } = wanted;
    const body = transferBody({
      from: this.world.idOf(from),
      to: this.world.idOf(to),
      raw,
      asset,
      description,
      metadata,
      ...(captureWithinS !== null && { capture: 'manual', capture_within_s: captureWithinS }),
    });
    const answer = await this.ask(actor, 'POST', '/v1/transfers', { body, key });
    const made = (): string =>
      typeof answer.json.id === 'string' ? answer.json.id : 'the id of a new transfer';
    assertSame(answer, this.world.ledger.transfers.create(wanted, key, made));
    this.sent.push({ wanted, key });
    this.world.keys.push({ what: 'transfers', key });
  }

  private async sweep({ from, to, asset, more }: Played<'sweep'>): Promise<void> {
    const raw = this.world.account(from).balances[asset] + more;
    const wanted = {
      op: 'transfer',
      actor: 'owner',
      from,
      to,
      asset,
      raw: raw < 0n ? 0n : raw,
      description: null,
      metadata: null,
      captureWithinS: null,
    } as const;
    await this.transfer(wanted, randomUUID());
  }

  private async createPending(operation: Played<'createPending'>): Promise<void> {
    const { what, from, to, asset, raw, approvals, expiresInS, role, captureWithinS } = operation;
    await this.fund(from, asset, raw);
    await this.approvals.ask(from, asset, 0n, approvals, expiresInS);
    await this.operators.role({ op: 'role', account: from, role });
    const wanted = { actor: 'owner', from, asset, raw, description: null } as const;
    if (what === 'payout')
      return this.payouts.plays.payout({ op: 'payout', ...wanted, to: 'bank' });
    const transfer = { op: 'transfer', ...wanted, to, metadata: null, captureWithinS } as const;
    await this.transfer(transfer, randomUUID());
  }

  private async payOut(operation: Played<'pay out'>): Promise<void> {
    const { from, asset, raw, role, way, words } = operation;
    await this.fund(from, asset, raw);
    await this.operators.role({ op: 'role', account: from, role });
    const waits = WAITING_WAYS.includes(way);
    await this.approvals.ask(from, asset, waits ? 0n : NEVER);
    const wanted = { actor: 'owner', from, asset, raw, description: null } as const;
    const to =
      way.startsWith('holder') || raw % 3n === 0n ? 'checked' : raw % 2n === 0n ? 'key' : 'bank';
    await this.payouts.plays.payout({ op: 'payout', ...wanted, to });
    const payout = this.payouts.last;
    if (payout === undefined) return;
    if (way === 'refused') await this.approvals.actFrozen(payout, 'approve', 'clerk');
    else if (way === 'rejected') await this.approvals.actOn(payout, 'reject', 'clerk');
    else if (way === 'canceled' || way === 'canceled once approved')
      await this.approvals.actOn(payout, 'cancel', 'owner');
    else if (way === 'approved') await this.approvals.actOn(payout, 'approve', 'clerk');
    await this.payouts.goOn(payout, way, words);
  }

  private async batch(operation: Played<'batch'>): Promise<void> {
    const { kind, from, asset, rows, role, last, way } = operation;
    for (const { raw } of rows) await this.fund(from, asset, raw);
    await this.operators.role({ op: 'role', account: from, role });
    if (way === 'by its uploader') await this.approvals.ask(from, asset, 0n);
    const source = this.world.account(from);
    const others = last === 'rest' ? rows.reduce((sum, { raw }) => sum + raw, 0n) : 0n;
    const [left, { maximum }] = [source.balances[asset] - others, limitsOf(source, asset)];
    const all =
      last === null ? rows : [...rows, { ...rows[0]!, raw: left < maximum ? left : maximum }];
    const upload = {
      kind,
      actor: 'owner',
      from,
      asset,
      description: null,
      rows: all,
      hasAmounts: true,
    } as const;
    await this.batches.plays.upload({ op: 'upload', ...upload });
    await this.batches.goOn(kind, way);
  }

  /** With as much again, so that there is enough for a fee. */
  private fund(account: number, asset: AssetName, raw: bigint): Promise<void> {
    return this.payIn({ op: 'pay in', account, asset, raw: 2n * raw });
  }

  private async malformed(what: Played<'malformed'>['what']): Promise<void> {
    const good = transferBody({ from: this.world.idOf(0), to: this.world.idOf(1), raw: 100_000n });
    const post = (body: unknown, key?: null): Promise<TestAnswer> =>
      this.ask('owner', 'POST', '/v1/transfers', { body, ...(key === null ? { key } : {}) });
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
          invalidField('amount.raw', 'not_an_integer_string'),
        );
      case 'unknown field':
        return assertSame(await post({ ...good, memo: 'x' }), invalidField('memo', 'unknown'));
      case 'no JSON':
        return assertSame(await post('{'), invalidField('', 'not_json'));
      case 'to itself':
        return assertSame(
          await post({
            ...good,
            destination: { type: 'account', account_id: good.source_account },
          }),
          invalidField('destination.account_id', 'same_as_source'),
        );
    }
  }

  private async payIn({ account: number, asset, raw }: Played<'pay in'>): Promise<void> {
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

  private async adjust(operation: Played<'adjust'>): Promise<void> {
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

  private async verify({ account: number, actor }: Played<'verify'>): Promise<void> {
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

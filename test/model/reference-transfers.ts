import type { Played } from './generated.js';
import type { ReferenceLedger } from './reference-ledger.js';
import type { ActorName, AssetName } from './operations.js';
import {
  amountJson,
  type Expected,
  FORBIDDEN,
  invalidField,
  type Json,
  NOT_FOUND,
  type RefAccount,
  type RefPayment,
  type RefTransfer,
  time,
} from './reference-state.js';

type Wanted = Omit<Played<'transfer'>, 'op'>;
type Parties = Pick<RefTransfer, 'source' | 'destination'>;

/** The key, and the run of a schedule, of a transfer to make. */
interface Making {
  readonly key: string;
  readonly content: string;
  readonly madeId: () => string;
  readonly schedule: Json | null;
}

/** Transfers as docs/contract.md describes them (Transfers), beside the reference ledger. */
export class ReferenceTransfers {
  constructor(private readonly ledger: ReferenceLedger) {}

  /** The response to POST /v1/transfers. `madeId` returns the id of the service's 201. */
  create(wanted: Wanted, key: string, madeId: () => string): Expected {
    const { ledger } = this;
    const { actor, from, to } = wanted;
    const tenant = ledger.tenantOf(actor);
    if (from === to) return invalidField('destination.account_id', 'same_as_source');
    const { asset, raw, description, metadata, captureWithinS } = wanted;
    const content = JSON.stringify([
      ...[from, to, asset, raw.toString(), description, metadata, captureWithinS],
    ]);
    const known = ledger.known(tenant, key, content);
    if (known !== null) return known;
    const parties = this.parties(wanted);
    if ('status' in parties) return parties;
    return this.make(wanted, parties, { key, content, madeId, schedule: null });
  }

  /** The refusal of POST /v1/schedules, or null. It checks only the accounts and the role. */
  scheduleRefusal(wanted: Wanted): Expected | null {
    if (wanted.from === wanted.to || wanted.raw === 0n)
      return { status: 400, code: 'invalid_field' };
    const parties = this.parties(wanted);
    return 'status' in parties ? parties : null;
  }

  /** The transfer of a schedule's run, rejected if a rule refuses it. `shown` has its id and the reason. */
  run(wanted: Wanted, schedule: Json, shown: Json): Json {
    const { ledger } = this;
    const { actor, asset, raw } = wanted;
    const tenant = ledger.tenantOf(actor);
    const key = `schedule/${String(schedule.id)}/${String(schedule.run)}`;
    const parties = this.parties(wanted);
    const made = { key, content: key, madeId: () => String(shown.id), schedule };
    const result = 'status' in parties ? parties : this.make(wanted, parties, made);
    if (result.body === undefined) {
      const [source, destination] = [ledger.accounts[wanted.from], ledger.accounts[wanted.to]];
      if (!source || !destination) throw new Error('a schedule has both accounts');
      const costs = { asset, raw, fee: 0n, feeAccount: null, creator: actor };
      const waits = { approval: null, captureWithinS: null, refunds: null };
      const of = { source, destination, ...costs, ...waits };
      const transfer = this.made(made.madeId(), key, of, wanted);
      const { reason } = shown.rejection as Json;
      const rejection = { code: result.code ?? '', reason };
      transfer.json = { ...transfer.json, status: 'rejected', schedule, rejection };
      tenant.transfers.push(transfer);
      ledger.tell(transfer, 'transfer.rejected');
    }
    return tenant.transfers.at(-1)?.json ?? {};
  }

  /** The accounts, or 404 and 403. */
  private parties({ actor, from, to }: Wanted): Parties | Expected {
    const { ledger } = this;
    const tenant = ledger.tenantOf(actor);
    const [source, destination] = [ledger.accounts[from] ?? null, ledger.accounts[to] ?? null];
    if (source === null || destination === null || source.tenant !== tenant.id) return NOT_FOUND;
    if (!ledger.reaches(tenant, destination)) return NOT_FOUND;
    return ledger.mayCreate(actor, source) ? { source, destination } : FORBIDDEN;
  }

  private make(
    wanted: Wanted,
    { source, destination }: Parties,
    { key, content, madeId, schedule }: Making,
  ): Expected {
    const { ledger } = this;
    const { actor, asset, raw, captureWithinS } = wanted;
    const tenant = ledger.tenantOf(actor);
    const fee = ledger.feeOf(tenant, source, asset, raw);
    const refusal = ledger.refusal(source, asset, raw, fee);
    if (refusal !== null) return ledger.refused(tenant, key, content, refusal);
    const approval = ledger.approvals.wanted(source, asset, raw);
    const feeAccount = fee > 0n ? tenant.feeAccount : null;
    const parties = { source, destination, asset, raw, fee, feeAccount, creator: actor };
    const waits = { approval, captureWithinS, refunds: null };
    const transfer = this.made(madeId(), key, { ...parties, ...waits }, wanted);
    transfer.json = { ...transfer.json, schedule };
    tenant.transfers.push(transfer);
    ledger.use(transfer, raw);
    if (approval !== null || captureWithinS !== null) ledger.hold(transfer, raw + fee);
    if (approval !== null) ledger.count('waits for approval');
    else if (captureWithinS === null) this.complete(transfer);
    else this.wait(transfer, captureWithinS);
    tenant.keys.set(key, { content, result: transfer });
    return { status: approval === null ? 201 : 202, body: transfer.json };
  }

  private made(
    id: string,
    key: string,
    of: Omit<RefTransfer, 'kind' | 'json' | 'key' | 'at' | 'month' | 'heldUntil'>,
    {
      description,
      metadata,
    }: { readonly description: string | null; readonly metadata: Json | null },
  ): RefTransfer {
    const { now, approvals } = this.ledger;
    const { source, destination, asset, raw, fee, approval, captureWithinS, refunds } = of;
    const json: Json = {
      id,
      scope: 'internal',
      status: approval === null ? 'completed' : 'pending_approval',
      source_account: source.id,
      destination: { type: 'account', account_id: destination.id },
      amount: amountJson(raw, asset),
      fee: amountJson(fee, asset),
      description,
      metadata: metadata ?? {},
      created_at: time(now),
      approval: approvals.shown(approval),
      capture: captureWithinS === null ? 'automatic' : 'manual',
      capture_expires_at: null,
      captured: null,
      refunded: amountJson(0n, asset),
      refund_of: refunds && { type: typeOf(refunds), id: refunds.json.id },
      rejection: null,
      schedule: null,
    };
    return {
      kind: 'transfer',
      json,
      key,
      at: now,
      month: this.ledger.monthOf(source),
      heldUntil: null,
      ...of,
    };
  }

  /** The response to a refund of a transfer or bonus; `part` is null to refund all that is left. */
  refund(
    actor: ActorName,
    original: RefPayment,
    part: { readonly raw: bigint; readonly asset: AssetName } | null,
    key: string,
    madeId: () => string,
  ): Expected {
    const { ledger } = this;
    const { source: destination, destination: source, asset } = original;
    const tenant = ledger.tenantOf(actor);
    const content = JSON.stringify([
      'refund',
      original.json.id,
      part && `${part.raw} ${part.asset}`,
    ]);
    const known = ledger.known(tenant, key, content);
    if (known !== null) return known;
    if (source.tenant !== tenant.id || !ledger.reaches(tenant, destination)) return NOT_FOUND;
    if (!ledger.mayCreate(actor, source)) return FORBIDDEN;
    if (part !== null && part.asset !== asset) return invalidField('amount.asset', 'another_asset');
    const { status: current } = original.json;
    if (current !== 'completed')
      return { status: 409, code: 'invalid_state', details: { current, allowed: ['completed'] } };
    const left = receivedOf(original) - this.refundedOf(original, 'completed', 'pending_approval');
    const raw = part?.raw ?? left;
    const refusal = refundRefusal(original, source, raw, left, part !== null);
    if (refusal !== null) return ledger.refused(tenant, key, content, refusal);
    const approval = ledger.approvals.wanted(source, asset, raw);
    const parties = { source, destination, asset, raw, fee: 0n, feeAccount: null, creator: actor };
    const waits = { approval, captureWithinS: null, refunds: original };
    const refund = this.made(madeId(), key, { ...parties, ...waits }, NO_TEXTS);
    tenant.transfers.push(refund);
    if (approval === null) this.complete(refund);
    else {
      ledger.hold(refund, raw);
      ledger.count('waits for approval');
    }
    tenant.keys.set(key, { content, result: refund });
    return { status: approval === null ? 201 : 202, body: refund.json };
  }

  private refundedOf(original: RefPayment, ...statuses: readonly unknown[]): bigint {
    return this.ledger.homes
      .flatMap(({ transfers }) => transfers)
      .filter(({ refunds, json }) => refunds === original && statuses.includes(json.status))
      .reduce((sum, { raw }) => sum + raw, 0n);
  }

  /** The response to POST /v1/transfers/{id}/capture; `part` is null for the whole amount. */
  capture(actor: ActorName, transfer: RefTransfer, part: bigint | null, key: string): Expected {
    const { ledger } = this;
    const { source, asset, raw } = transfer;
    const tenant = ledger.tenantOf(actor);
    const content = JSON.stringify(['capture', transfer.json.id, `${part}`]);
    const known = ledger.known(tenant, key, content);
    if (known !== null) return known;
    if (source.tenant !== tenant.id) return NOT_FOUND;
    if (!ledger.mayCreate(actor, source)) return FORBIDDEN;
    if (transfer.json.status === 'held' && ledger.now >= (transfer.heldUntil ?? 0))
      this.expired(transfer);
    const { status: current } = transfer.json;
    if (current !== 'held')
      return { status: 409, code: 'invalid_state', details: { current, allowed: ['held'] } };
    const captured = part ?? raw;
    const refusal = captureRefusal(transfer, captured);
    if (refusal !== null) return ledger.refused(tenant, key, content, refusal);
    const full = ledger.scheduledFee(tenant, asset, captured);
    const fee = full > transfer.fee ? transfer.fee : full;
    ledger.hold(transfer, -(raw + transfer.fee));
    ledger.use(transfer, captured - raw);
    transfer.json = {
      ...transfer.json,
      status: 'completed',
      captured: amountJson(captured, asset),
      fee: amountJson(fee, asset),
    };
    const feeAccount = fee > 0n ? transfer.feeAccount : null;
    ledger.enterAll('transfer', { ...transfer, raw: captured, fee, feeAccount });
    ledger.tell(transfer, 'transfer.completed', 'captured');
    tenant.keys.set(key, { content, result: transfer });
    return { status: 200, body: transfer.json };
  }

  private wait(transfer: RefTransfer, captureWithinS: number): void {
    transfer.heldUntil = this.ledger.now + captureWithinS * 1_000;
    const expires = time(transfer.heldUntil);
    transfer.json = { ...transfer.json, status: 'held', capture_expires_at: expires };
  }

  granted(transfer: RefTransfer): void {
    if (transfer.captureWithinS !== null) return this.wait(transfer, transfer.captureWithinS);
    transfer.json = { ...transfer.json, status: 'completed' };
    this.ledger.hold(transfer, -(transfer.raw + transfer.fee));
    this.complete(transfer);
  }

  rejected(transfer: RefTransfer, code: string, reason: string | null): void {
    this.end(transfer, 'rejected', { code, reason });
  }

  canceled(transfer: RefTransfer, reason: string | null): void {
    this.end(transfer, 'rejected', { code: 'canceled', reason });
  }

  expired(transfer: RefTransfer): void {
    this.end(transfer, 'expired', null);
  }

  /** The money moves now, and the log says so. */
  private complete(transfer: RefTransfer): void {
    this.ledger.enterAll('transfer', transfer);
    this.ledger.tell(transfer, 'transfer.completed');
    const { refunds: original } = transfer;
    if (original === null) return;
    const refunded = amountJson(this.refundedOf(original, 'completed'), original.asset);
    original.json = { ...original.json, refunded };
  }

  /** Nothing leaves: what was held and counted is given back, to its own month. */
  private end(transfer: RefTransfer, status: 'rejected' | 'expired', rejection: Json | null): void {
    transfer.json = { ...transfer.json, status, rejection };
    this.ledger.giveBack(transfer);
    this.ledger.tell(transfer, `transfer.${status}`);
  }
}

const NO_TEXTS = { description: null, metadata: null };

function typeOf(payment: RefPayment): 'transfer' | 'bonus' {
  return 'kind' in payment ? 'transfer' : 'bonus';
}

/** Returns the amount that moved, which is the captured amount of a captured transfer. */
function receivedOf({ raw, json }: RefPayment): bigint {
  const captured = (json.captured ?? null) as Json | null;
  return captured === null ? raw : BigInt(String(captured.raw));
}

function refundRefusal(
  original: RefPayment,
  source: RefAccount,
  raw: bigint,
  left: bigint,
  isGiven: boolean,
): Expected | null {
  const { asset } = original;
  const no = (code: string, details?: Json): Expected => ({
    status: 422,
    code,
    ...(details && { details }),
  });
  if ((original as Partial<RefTransfer>).refunds) return no('not_refundable');
  if (isGiven && raw === 0n) return no('below_minimum', { minimum: '1', requested: '0', asset });
  if (raw > left || left === 0n)
    return no('refund_exceeds_amount', { refundable: amountJson(left, asset) });
  if (source.isFrozen) return no('capability_cannot_send', { reason: 'frozen' });
  if (source.verifiedAt === null) return no('capability_cannot_send', { reason: 'not_verified' });
  const available = source.balances[asset];
  return available < raw
    ? no('insufficient_funds', { available: `${available}`, requested: `${raw}` })
    : null;
}

function captureRefusal({ source, asset, raw }: RefTransfer, captured: bigint): Expected | null {
  const no = (code: string, details: Json): Expected => ({ status: 422, code, details });
  if (captured === 0n) return no('below_minimum', { minimum: '1', requested: '0', asset });
  if (captured > raw) return no('capture_exceeds_amount', { capturable: amountJson(raw, asset) });
  if (source.isFrozen) return no('capability_cannot_send', { reason: 'frozen' });
  return source.verifiedAt === null
    ? no('capability_cannot_send', { reason: 'not_verified' })
    : null;
}

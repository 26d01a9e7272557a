import type { ActorName, AssetName } from './operations.js';
import { APPROVAL_ENDINGS, ReferenceApprovals } from './reference-approvals.js';
import { RefBatch, type RefRow } from './reference-batch.js';
import { BATCH_ENDINGS, ReferenceBatches } from './reference-batches.js';
import { ReferenceBonuses } from './reference-bonuses.js';
import { PAYOUT_ENDINGS, ReferencePayouts } from './reference-payouts.js';
import { ReferenceTransfers } from './reference-transfers.js';
import {
  type Expected,
  FORBIDDEN,
  type Json,
  limitsOf,
  monthEnd,
  monthName,
  NOT_FOUND,
  partyOf,
  type RefAccount,
  type RefEntry,
  type RefOperation,
  type RefPayment,
  type RefTenant,
  type RefWaiting,
  time,
} from './reference-state.js';

/**
 * The service as docs/contract.md describes it, in memory, for one thing at a time. It shares no code with
 * the service: limits, fees, months and the order of the rules are written here once more.
 */

const EARLIER_MS = 90 * 24 * 3_600_000;
const EARLIER_KEPT_MS = 3_000;
/** The states of payouts that do not count as earlier payments. */
const UNPAID = ['rejected', 'canceled', 'failed', 'returned'];
const CREATORS = ['operator', 'admin', 'owner'];
const SYSTEM = {
  account_id: null,
  tenant: null,
  alias: null,
  display_name: 'System',
  type: 'system',
};

const REUSED: Expected = { status: 409, code: 'idempotency_key_reused' };

/** The counted results, so that a campaign can require enough of each. */
export const ENDINGS = [...APPROVAL_ENDINGS, ...PAYOUT_ENDINGS, ...BATCH_ENDINGS] as const;
export type Ending = (typeof ENDINGS)[number];

export class ReferenceLedger {
  readonly approvals = new ReferenceApprovals(this);
  readonly transfers = new ReferenceTransfers(this);
  readonly bonuses = new ReferenceBonuses(this);
  readonly payouts = new ReferencePayouts(this);
  readonly batches = new ReferenceBatches(this);
  readonly played = new Map<Ending, number>();
  private readonly tenants = new Map<string, RefTenant>();

  /** `home` are the ids of the tenants A and B. */
  constructor(
    readonly accounts: readonly (RefAccount | null)[],
    tenants: readonly Pick<RefTenant, 'id' | 'network' | 'zoneMs'>[],
    private readonly home: { readonly a: string; readonly b: string },
    public now: number,
  ) {
    for (const tenant of tenants)
      this.tenants.set(tenant.id, {
        ...tenant,
        keys: new Map(),
        events: [],
        transfers: [],
        bonuses: [],
        payouts: [],
        schedules: [],
        bonus_batches: [],
        payout_batches: [],
        feeAccount: null,
        policyDelayS: 0,
        fees: new Map(),
      });
  }

  tenantOf(actor: ActorName): RefTenant {
    return this.tenant(actor === 'neighbour' ? this.home.b : this.home.a);
  }

  tenant(id: string): RefTenant {
    const tenant = this.tenants.get(id);
    if (tenant === undefined) throw new Error('no such tenant');
    return tenant;
  }

  /** The tenants of those who act. */
  get homes(): readonly RefTenant[] {
    return [this.tenant(this.home.a), this.tenant(this.home.b)];
  }

  /** The role of who acts in an account; null for none. */
  role(actor: ActorName, account: RefAccount): string | null {
    if (account.tenant !== this.tenantOf(actor).id) return null;
    return actor === 'clerk' ? account.clerkRole : 'owner';
  }

  /** 404 for what is not the actor's, 403 where the role is not among these (null: any), else the account. */
  own(
    actor: ActorName,
    account: RefAccount | null,
    roles: readonly string[] | null,
  ): RefAccount | Expected {
    if (account === null || account.tenant !== this.tenantOf(actor).id) return NOT_FOUND;
    const role = this.role(actor, account);
    return role !== null && (roles === null || roles.includes(role)) ? account : FORBIDDEN;
  }

  count(ending: Ending): void {
    this.played.set(ending, (this.played.get(ending) ?? 0) + 1);
  }

  /** The response to a used key: the same refusal, or 200 with the same transfer as it is now. */
  known(tenant: RefTenant, key: string, content: string): Expected | null {
    const known = tenant.keys.get(key);
    if (known === undefined) return null;
    if (known.content !== content) return REUSED;
    const { result } = known;
    if (!('json' in result)) return { ...result, replayed: true };
    return {
      status: 200,
      body: result instanceof RefBatch ? this.reviewed(result) : result.json,
      replayed: true,
    };
  }

  /** The refusal, to which the key is bound. */
  refused(tenant: RefTenant, key: string, content: string, refusal: Expected): Expected {
    tenant.keys.set(key, { content, result: refusal });
    return refusal;
  }

  /** A batch as it is shown when it is read by its id: a ready one with its earlier payments. */
  reviewed(batch: RefBatch): Json {
    if (batch.status !== 'ready') return batch.reviewed;
    if (this.now > batch.earlierAt + EARLIER_KEPT_MS) this.searchEarlier(batch);
    return { ...batch.reviewed, earlier_payments: batch.earlier };
  }

  /** Finds the earlier payments of a batch, which are shown for some seconds. */
  searchEarlier(batch: RefBatch): void {
    const tenant = this.tenant(batch.source.tenant);
    const { kind } = batch.of;
    const others = tenant[`${kind}_batches`].filter((one) => one !== batch);
    const newest = (ids: readonly unknown[]): string | null =>
      ids.map(String).sort().at(-1) ?? null;
    const rows = batch.rows.flatMap(({ number, reference, account, payee }) => {
      const isSame = (row: RefRow): boolean => row.reference === reference && row.payee === payee;
      if (reference === null) return [];
      // Single payouts have no reference.
      const paid = tenant.bonuses.filter(
        ({ json, destination, at }) =>
          json.reference === reference && destination === account && at >= this.now - EARLIER_MS,
      );
      const ofRows = others
        .flatMap((one) => one.rows)
        .filter((row) => isSame(row) && (row.paidAt ?? 0) >= this.now - EARLIER_MS)
        .filter(({ payout }) => payout !== null && !UNPAID.includes(String(payout.json.status)));
      const paymentId = newest(
        kind === 'bonus' ? paid.map(({ json }) => json.id) : ofRows.map((row) => row.paymentId),
      );
      const open = others.filter(
        (one) =>
          ['ready', 'executing'].includes(one.status) &&
          !one.isCanceled &&
          one.rows.some((row) => isSame(row) && row.status === 'pending'),
      );
      const payer = others.find((one) => one.rows.some((row) => row.paymentId === paymentId));
      const batchId =
        paymentId === null ? newest(open.map(({ of }) => of.id)) : (payer?.of.id ?? null);
      return paymentId === null && batchId === null
        ? []
        : [{ row: number, batch_id: batchId, [`${kind}_id`]: paymentId }];
    });
    batch.earlier = { count: rows.length, rows: rows.slice(0, 100) };
    batch.earlierAt = this.now;
  }

  mayCreate(actor: ActorName, source: RefAccount): boolean {
    return CREATORS.includes(this.role(actor, source) ?? '');
  }

  reaches(tenant: RefTenant, destination: RefAccount): boolean {
    if (destination.tenant === tenant.id) return true;
    return tenant.network !== null && this.tenant(destination.tenant).network === tenant.network;
  }

  /** Sets the fee of every operation that has one: a run sets all at once. */
  feeOf(tenant: RefTenant, source: RefAccount, asset: AssetName, raw: bigint): bigint {
    if (tenant.feeAccount === null || tenant.feeAccount === source) return 0n;
    return this.scheduledFee(tenant, asset, raw);
  }

  scheduledFee(tenant: RefTenant, asset: AssetName, raw: bigint): bigint {
    const schedule = tenant.fees.get(asset);
    if (schedule === undefined) return 0n;
    // Half up: floor(x + 1/2).
    const fee = schedule.flat + (2n * raw * schedule.basisPoints + 10_000n) / 20_000n;
    return schedule.cap !== null && fee > schedule.cap ? schedule.cap : fee;
  }

  refusal(source: RefAccount, asset: AssetName, raw: bigint, fee: bigint): Expected | null {
    const no = (code: string, details: Json): Expected => ({ status: 422, code, details });
    if (source.isFrozen) return no('capability_cannot_send', { reason: 'frozen' });
    if (source.verifiedAt === null) return no('capability_cannot_send', { reason: 'not_verified' });
    const { minimum, maximum, month } = limitsOf(source, asset);
    if (raw < minimum)
      return no('below_minimum', { minimum: `${minimum}`, requested: `${raw}`, asset });
    if (raw > maximum)
      return no('above_per_operation_limit', { maximum: `${maximum}`, requested: `${raw}`, asset });
    const used = this.usedOf(source, asset);
    if (used + raw > month)
      return no('monthly_limit_exceeded', {
        used: `${used}`,
        limit: `${month}`,
        resets_at: this.monthEnd(source),
      });
    const available = source.balances[asset];
    if (available < raw + fee)
      return no('insufficient_funds', { available: `${available}`, requested: `${raw + fee}` });
    return null;
  }

  usedOf(account: RefAccount, asset: AssetName): bigint {
    return account.months.get(`${asset} ${this.monthOf(account)}`) ?? 0n;
  }

  /** The present month of the account's tenant. */
  monthOf({ tenant }: RefAccount): string {
    return monthName(this.now, this.tenant(tenant).zoneMs);
  }

  monthEnd({ tenant }: RefAccount): string {
    return monthEnd(this.now, this.tenant(tenant).zoneMs);
  }

  /** Counts it in the month of its creation; less than nothing gives back. */
  use({ source, asset, month }: RefWaiting, raw: bigint): void {
    this.useMonth(source, asset, raw, month);
  }

  useMonth(source: RefAccount, asset: AssetName, raw: bigint, month = this.monthOf(source)): void {
    const name = `${asset} ${month}`;
    source.months.set(name, (source.months.get(name) ?? 0n) + raw);
  }

  /** Sets funds of its source aside; less than nothing gives back. */
  hold({ source, asset }: Pick<RefOperation, 'source' | 'asset'>, raw: bigint): void {
    source.changedAt = this.now;
    source.balances[asset] -= raw;
    source.held[asset] += raw;
  }

  /** Frees what was held and counted, in its own month. */
  giveBack(waiting: RefWaiting): void {
    this.hold(waiting, -(waiting.raw + waiting.fee));
    const isRefund = waiting.kind === 'transfer' && waiting.refunds !== null;
    if (!isRefund) this.use(waiting, -waiting.raw);
  }

  /** The log says what has become of it, with the resource as it is now. */
  tell({ source, json }: RefOperation, type: string, ending?: Ending): void {
    this.tenant(source.tenant).events.push({ type, object: json, at: this.now });
    if (ending !== undefined) this.count(ending);
  }

  /** The movements of what is paid, with those of its fee. */
  enterAll(type: 'transfer' | 'bonus', payment: RefPayment): void {
    const { source, destination, raw } = payment;
    this.leg(type, payment, source, partyOf(destination), `${type}_out`, raw);
    this.leg(type, payment, destination, partyOf(source), `${type}_in`, raw);
    this.enterFee(type, payment);
  }

  /** Nothing where none was charged. */
  enterFee(type: string, operation: RefOperation): void {
    const { source, fee, feeAccount } = operation;
    if (feeAccount === null) return;
    this.leg(type, operation, source, partyOf(feeAccount), 'fee_out', fee);
    this.leg(type, operation, feeAccount, partyOf(source), 'adjustment_in', fee);
  }

  /** The amount of a payout, on its way to a bank account or back. */
  enterOutside(payout: RefOperation, kind: 'payout_out' | 'adjustment_in', party: Json): void {
    this.leg('payout', payout, payout.source, party, kind, payout.raw);
  }

  private leg(
    type: string,
    { json, asset }: RefOperation,
    account: RefAccount,
    counterparty: Json,
    kind: string,
    raw: bigint,
  ): void {
    const related = { type, id: String(json.id) };
    const description = json.description as string | null;
    this.enter(account, { kind, raw, asset, counterparty, description, related, at: this.now });
  }

  private enter(account: RefAccount, entry: RefEntry): void {
    account.changedAt = this.now;
    account.balances[entry.asset] += entry.kind.endsWith('_out') ? -entry.raw : entry.raw;
    account.entries.push(entry);
  }

  /** Money from outside, or a correction: always between the account and the system. */
  enterFromSystem(
    account: RefAccount,
    kind: 'payin_in' | 'adjustment_in' | 'adjustment_out',
    what: {
      readonly raw: bigint;
      readonly asset: AssetName;
      readonly id: string;
      readonly description: string | null;
    },
  ): void {
    const { raw, asset, id, description } = what;
    const related = { type: kind === 'payin_in' ? 'payin' : 'adjustment', id };
    this.enter(account, {
      kind,
      raw,
      asset,
      counterparty: SYSTEM,
      description,
      related,
      at: this.now,
    });
  }

  /** The response to PUT verification; the first one is an event. */
  verify(account: RefAccount, last4: string): Expected {
    const isFirst = account.verifiedAt === null;
    account.verifiedAt ??= this.now;
    const body = {
      account_id: account.id,
      status: 'verified',
      can_send: !account.isFrozen,
      verified_at: time(account.verifiedAt),
      document_last4: last4,
    };
    if (isFirst)
      this.tenant(account.tenant).events.push({
        type: 'account.verified',
        object: body,
        at: this.now,
      });
    return { status: 200, body };
  }
}

import type { ActorName, AssetName, TransferOperation } from './operations.js';
import { ReferenceApprovals } from './reference-approvals.js';
import { ReferenceBonuses } from './reference-bonuses.js';
import {
  type Expected,
  fieldDetails,
  FORBIDDEN,
  type Json,
  limitsOf,
  monthEnd,
  monthName,
  NOT_FOUND,
  partyOf,
  type RefAccount,
  type RefEntry,
  type RefPayment,
  type RefTenant,
  type RefTransfer,
  time,
} from './reference-state.js';

/**
 * The service as docs/contract.md describes it, in memory, for one thing at a time. It shares no code with
 * the service: limits, fees, months and the order of the rules are written here once more.
 */

const CREATORS = ['operator', 'admin', 'owner'];
const SYSTEM = { account_id: null, tenant: null, alias: null, display_name: 'System', type: 'system' };

export const REUSED: Expected = { status: 409, code: 'idempotency_key_reused' };

export class ReferenceLedger {
  readonly approvals: ReferenceApprovals;
  readonly bonuses: ReferenceBonuses;
  private readonly tenants = new Map<string, RefTenant>();

  /** `home` are the ids of the tenants A and B. */
  constructor(
    readonly accounts: readonly (RefAccount | null)[],
    networks: ReadonlyMap<string, string | null>,
    private readonly home: { readonly a: string; readonly b: string },
    public now: number,
  ) {
    this.approvals = new ReferenceApprovals(this);
    this.bonuses = new ReferenceBonuses(this);
    for (const [id, network] of networks)
      this.tenants.set(id, {
        id,
        network,
        keys: new Map(),
        events: [],
        transfers: [],
        bonuses: [],
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

  /** The role of who acts in an account; null for none. */
  role(actor: ActorName, account: RefAccount): string | null {
    if (account.tenant !== this.tenantOf(actor).id) return null;
    return actor === 'clerk' ? account.clerkRole : 'owner';
  }

  /** 404 for what is not the actor's, 403 where the role is not among these (null: any), else the account. */
  own(actor: ActorName, account: RefAccount | null, roles: readonly string[] | null): RefAccount | Expected {
    if (account === null || account.tenant !== this.tenantOf(actor).id) return NOT_FOUND;
    const role = this.role(actor, account);
    return role !== null && (roles === null || roles.includes(role)) ? account : FORBIDDEN;
  }

  // --- writing ---

  /** What POST /v1/transfers answers. `make` is called for the id that the service gave when it says 201. */
  transfer(wanted: TransferOperation, key: string, madeId: () => string): Expected {
    const { actor, from, to } = wanted;
    const tenant = this.tenantOf(actor);
    const [source, destination] = [this.accounts[from] ?? null, this.accounts[to] ?? null];
    if (from === to)
      return { status: 400, code: 'invalid_field', details: fieldDetails('destination.account_id', 'same_as_source') };
    const { asset, raw, description } = wanted;
    const content = JSON.stringify([from, to, asset, raw.toString(), description]);
    const known = this.known(tenant, key, content);
    if (known !== null) return known;
    if (source === null || destination === null || source.tenant !== tenant.id) return NOT_FOUND;
    if (!this.reaches(tenant, destination)) return NOT_FOUND;
    if (!this.mayCreate(actor, source)) return FORBIDDEN;
    const fee = this.feeOf(tenant, source, asset, raw);
    const refusal = this.refusal(source, asset, raw, fee);
    if (refusal !== null) {
      tenant.keys.set(key, { content, result: refusal });
      return refusal;
    }
    const policy = this.approvals.policyOf(source, asset);
    const isWaiting = policy !== undefined && raw >= policy.threshold;
    const approval = isWaiting
      ? { required: policy.approvals, expiresAt: this.now + policy.expiresInS * 1_000, by: new Set<string>() }
      : null;
    const json: Json = {
      id: madeId(),
      scope: 'internal',
      status: isWaiting ? 'pending_approval' : 'completed',
      source_account: source.id,
      destination: { type: 'account', account_id: destination.id },
      amount: { raw: raw.toString(), asset },
      fee: { raw: fee.toString(), asset },
      description,
      created_at: time(this.now),
      approval:
        approval === null ? null : { required: approval.required, received: 0, expires_at: time(approval.expiresAt) },
      rejection: null,
    };
    const feeAccount = fee > 0n ? tenant.feeAccount : null;
    const month = monthName(this.now);
    const parties = { source, destination, asset, raw, fee, feeAccount, creator: actor };
    const transfer: RefTransfer = { json, key, at: this.now, month, approval, ...parties };
    tenant.transfers.push(transfer);
    this.use(transfer, raw);
    if (isWaiting) {
      this.hold(transfer, raw + fee);
      this.approvals.count('waits for approval');
    } else this.complete(tenant, transfer);
    tenant.keys.set(key, { content, result: transfer });
    return { status: isWaiting ? 202 : 201, body: json };
  }

  /** What a used key answers: the same refusal, or 200 with the same transfer as it is now. */
  known(tenant: RefTenant, key: string, content: string): Expected | null {
    const known = tenant.keys.get(key);
    if (known === undefined) return null;
    if (known.content !== content) return REUSED;
    const { result } = known;
    return { ...('json' in result ? { status: 200, body: result.json } : result), replayed: true };
  }

  mayCreate(actor: ActorName, source: RefAccount): boolean {
    return CREATORS.includes(this.role(actor, source) ?? '');
  }

  reaches(tenant: RefTenant, destination: RefAccount): boolean {
    if (destination.tenant === tenant.id) return true;
    return tenant.network !== null && this.tenant(destination.tenant).network === tenant.network;
  }

  /** The same for transfers and bonuses: a run sets both at once. */
  feeOf(tenant: RefTenant, source: RefAccount, asset: AssetName, raw: bigint): bigint {
    const schedule = tenant.fees.get(asset);
    if (schedule === undefined || tenant.feeAccount === null || tenant.feeAccount === source) return 0n;
    // Half up: floor(x + 1/2).
    const fee = schedule.flat + (2n * raw * schedule.basisPoints + 10_000n) / 20_000n;
    return schedule.cap !== null && fee > schedule.cap ? schedule.cap : fee;
  }

  refusal(source: RefAccount, asset: AssetName, raw: bigint, fee: bigint): Expected | null {
    const no = (code: string, details: Json): Expected => ({ status: 422, code, details });
    if (source.isFrozen) return no('capability_cannot_send', { reason: 'frozen' });
    if (source.verifiedAt === null) return no('capability_cannot_send', { reason: 'not_verified' });
    const { minimum, maximum, month } = limitsOf(source, asset);
    if (raw < minimum) return no('below_minimum', { minimum: `${minimum}`, requested: `${raw}`, asset });
    if (raw > maximum) return no('above_per_operation_limit', { maximum: `${maximum}`, requested: `${raw}`, asset });
    const used = this.usedOf(source, asset);
    if (used + raw > month)
      return no('monthly_limit_exceeded', { used: `${used}`, limit: `${month}`, resets_at: monthEnd(this.now) });
    const available = source.balances[asset];
    if (available < raw + fee)
      return no('insufficient_funds', { available: `${available}`, requested: `${raw + fee}` });
    return null;
  }

  usedOf(account: RefAccount, asset: AssetName): bigint {
    return account.months.get(`${asset} ${monthName(this.now)}`) ?? 0n;
  }

  /** Counts it in the month of its creation; less than nothing gives back. */
  use({ source, asset, month }: RefTransfer, raw: bigint): void {
    this.useMonth(source, asset, raw, month);
  }

  useMonth(source: RefAccount, asset: AssetName, raw: bigint, month = monthName(this.now)): void {
    const name = `${asset} ${month}`;
    source.months.set(name, (source.months.get(name) ?? 0n) + raw);
  }

  /** Sets funds of its source aside; less than nothing gives back. */
  hold({ source, asset }: RefTransfer, raw: bigint): void {
    source.balances[asset] -= raw;
    source.held[asset] += raw;
  }

  /** The money moves now, and the log says so. */
  complete(tenant: RefTenant, transfer: RefTransfer): void {
    this.enterAll('transfer', transfer);
    tenant.events.push({ type: 'transfer.completed', object: transfer.json, at: this.now });
  }

  /** The movements of what is paid, with those of its fee. */
  enterAll(type: 'transfer' | 'bonus', payment: RefPayment): void {
    const { source, destination, json, asset, raw, fee, feeAccount } = payment;
    const related = { type, id: String(json.id) };
    const description = json.description as string | null;
    const leg = (account: RefAccount, other: RefAccount, kind: string, amount: bigint): void =>
      this.enter(account, {
        kind,
        raw: amount,
        asset,
        counterparty: partyOf(other),
        description,
        related,
        at: this.now,
      });
    leg(source, destination, `${type}_out`, raw);
    leg(destination, source, `${type}_in`, raw);
    if (feeAccount !== null) {
      leg(source, feeAccount, 'fee_out', fee);
      leg(feeAccount, source, 'adjustment_in', fee);
    }
  }

  private enter(account: RefAccount, entry: RefEntry): void {
    account.balances[entry.asset] += entry.kind.endsWith('_out') ? -entry.raw : entry.raw;
    account.entries.push(entry);
  }

  /** Money from outside, or a correction: always between the account and the system. */
  enterFromSystem(
    account: RefAccount,
    kind: 'payin_in' | 'adjustment_in' | 'adjustment_out',
    what: { readonly raw: bigint; readonly asset: AssetName; readonly id: string; readonly description: string | null },
  ): void {
    const { raw, asset, id, description } = what;
    const related = { type: kind === 'payin_in' ? 'payin' : 'adjustment', id };
    this.enter(account, { kind, raw, asset, counterparty: SYSTEM, description, related, at: this.now });
  }

  /** What PUT verification answers; the first one is an event. */
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
    if (isFirst) this.tenant(account.tenant).events.push({ type: 'account.verified', object: body, at: this.now });
    return { status: 200, body };
  }
}

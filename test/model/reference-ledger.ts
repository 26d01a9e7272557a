import type { ActorName, AssetName, TransferOperation } from './operations.js';

/**
 * The service as interface.md and decisions.md describe it, in memory, for one thing at a time. It shares no code with
 * the service: limits, fees, months and the order of the rules are written here once more.
 */

export type Json = Readonly<Record<string, unknown>>;

export interface Expected {
  readonly status: number;
  readonly code?: string;
  readonly details?: Json;
  /** The whole body, where it is known. */
  readonly body?: Json;
  readonly replayed?: boolean;
}

export interface RefAccount {
  readonly id: string;
  readonly tenant: string;
  readonly type: 'person' | 'business';
  readonly alias: string | null;
  readonly displayName: string;
  verifiedAt: number | null;
  isFrozen: boolean;
  /** Of tenant A's clerk. */
  clerkRole: string | null;
  readonly balances: Record<AssetName, bigint>;
  readonly months: Map<string, bigint>;
  /** Oldest first. */
  readonly entries: RefEntry[];
}

export interface RefEntry {
  readonly kind: string;
  readonly raw: bigint;
  readonly asset: AssetName;
  readonly counterparty: Json;
  readonly description: string | null;
  readonly related: { readonly type: string; readonly id: string };
  readonly at: number;
}

export interface RefEvent {
  readonly type: string;
  readonly object: Json;
  readonly at: number;
}

export interface RefTenant {
  readonly id: string;
  readonly network: string | null;
  readonly keys: Map<string, { readonly content: string; readonly result: Expected }>;
  readonly events: RefEvent[];
  readonly transfers: RefTransfer[];
  feeAccount: RefAccount | null;
  readonly fees: Map<AssetName, { flat: bigint; basisPoints: bigint; cap: bigint | null }>;
}

export interface RefTransfer {
  readonly json: Json;
  readonly key: string;
  readonly at: number;
  readonly source: RefAccount;
  readonly destination: RefAccount;
}

const LIMITS = {
  COPM: { minimum: 100_000n, maximum: 1_200_000_000n, month: 5_000_000_000n },
  DUSD: { minimum: 100_000n, maximum: 3_000_000_000n, month: 12_000_000_000n },
} as const;
const CREATORS = ['operator', 'admin', 'owner'];
const SYSTEM = { account_id: null, tenant: null, alias: null, display_name: 'System', type: 'system' };
const BOGOTA_MS = -5 * 3_600_000;

export const NOT_FOUND: Expected = { status: 404, code: 'not_found' };
export const FORBIDDEN: Expected = { status: 403, code: 'authority_insufficient' };
const REUSED: Expected = { status: 409, code: 'idempotency_key_reused' };

export class ReferenceLedger {
  now: number;
  readonly accounts: readonly (RefAccount | null)[];
  private readonly tenants = new Map<string, RefTenant>();
  private readonly home: { readonly a: string; readonly b: string };

  /** `home` are the ids of the tenants A and B. */
  constructor(
    accounts: readonly (RefAccount | null)[],
    networks: ReadonlyMap<string, string | null>,
    home: { readonly a: string; readonly b: string },
    now: number,
  ) {
    this.accounts = accounts;
    this.home = home;
    this.now = now;
    for (const [id, network] of networks)
      this.tenants.set(id, {
        id,
        network,
        keys: new Map(),
        events: [],
        transfers: [],
        feeAccount: null,
        fees: new Map(),
      });
  }

  tenantOf(actor: ActorName): RefTenant {
    return this.tenant(actor === 'neighbour' ? this.home.b : this.home.a);
  }

  private tenant(id: string): RefTenant {
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
    const known = tenant.keys.get(key);
    if (known !== undefined) return known.content === content ? replayOf(known.result) : REUSED;
    if (source === null || destination === null || source.tenant !== tenant.id) return NOT_FOUND;
    if (!this.reaches(tenant, destination)) return NOT_FOUND;
    if (!CREATORS.includes(this.role(actor, source) ?? '')) return FORBIDDEN;
    const fee = this.feeOf(tenant, source, asset, raw);
    const refusal = this.refusal(source, asset, raw, fee);
    if (refusal !== null) {
      tenant.keys.set(key, { content, result: refusal });
      return refusal;
    }
    const json: Json = {
      id: madeId(),
      scope: 'internal',
      status: 'completed',
      source_account: source.id,
      destination: { type: 'account', account_id: destination.id },
      amount: { raw: raw.toString(), asset },
      fee: { raw: fee.toString(), asset },
      description,
      created_at: time(this.now),
    };
    this.post(tenant, { json, key, at: this.now, source, destination }, { asset, raw, fee, description });
    const result = { status: 201, body: json };
    tenant.keys.set(key, { content, result });
    return result;
  }

  private reaches(tenant: RefTenant, destination: RefAccount): boolean {
    if (destination.tenant === tenant.id) return true;
    return tenant.network !== null && this.tenant(destination.tenant).network === tenant.network;
  }

  private feeOf(tenant: RefTenant, source: RefAccount, asset: AssetName, raw: bigint): bigint {
    const schedule = tenant.fees.get(asset);
    if (schedule === undefined || tenant.feeAccount === null || tenant.feeAccount === source) return 0n;
    // Half up: floor(x + 1/2).
    const fee = schedule.flat + (2n * raw * schedule.basisPoints + 10_000n) / 20_000n;
    return schedule.cap !== null && fee > schedule.cap ? schedule.cap : fee;
  }

  private refusal(source: RefAccount, asset: AssetName, raw: bigint, fee: bigint): Expected | null {
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

  private post(
    tenant: RefTenant,
    transfer: RefTransfer,
    { asset, raw, fee, description }: { asset: AssetName; raw: bigint; fee: bigint; description: string | null },
  ): void {
    const { source, destination, json } = transfer;
    const related = { type: 'transfer', id: String(json.id) };
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
    leg(source, destination, 'transfer_out', raw);
    leg(destination, source, 'transfer_in', raw);
    if (fee > 0n && tenant.feeAccount !== null) {
      leg(source, tenant.feeAccount, 'fee_out', fee);
      leg(tenant.feeAccount, source, 'adjustment_in', fee);
    }
    source.months.set(`${asset} ${monthName(this.now)}`, this.usedOf(source, asset) + raw);
    tenant.transfers.push(transfer);
    tenant.events.push({ type: 'transfer.completed', object: json, at: this.now });
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

export function limitsOf(account: RefAccount, asset: AssetName): { minimum: bigint; maximum: bigint; month: bigint } {
  const { minimum, maximum, month } = LIMITS[asset];
  const factor = account.type === 'business' ? 100n : 1n;
  return { minimum, maximum: maximum * factor, month: month * factor };
}

export function partyOf(account: RefAccount): Json {
  const { id, tenant, alias, displayName, type } = account;
  return { account_id: id, tenant, alias, display_name: displayName, type };
}

export function fieldDetails(field: string, reason: string): Json {
  return { field, reason, errors: [{ code: 'invalid_field', field, reason }] };
}

/** What a used key answers: the same refusal, or 200 with the same resource. */
function replayOf(result: Expected): Expected {
  return { ...result, status: result.status === 201 ? 200 : result.status, replayed: true };
}

export function time(at: number): string {
  return new Date(at).toISOString();
}

/** Bogotá has no summer time: its months begin at 05:00 UTC. */
function monthName(at: number): string {
  return time(at + BOGOTA_MS).slice(0, 7);
}

export function monthEnd(at: number): string {
  const local = new Date(at + BOGOTA_MS);
  return time(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 1) - BOGOTA_MS);
}

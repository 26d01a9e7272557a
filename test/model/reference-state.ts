import { type ActorName, type AssetName, LIMITS } from './operations.js';
import type { RefBatch } from './reference-batch.js';

/** The state of the reference ledger, and the rules of the contract that need no state. */

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
  /** The available amount; the amount set aside is in `held`. */
  readonly balances: Record<AssetName, bigint>;
  readonly held: Record<AssetName, bigint>;
  readonly policies: Map<AssetName, RefPolicy>;
  /** The change of the policy that takes effect at an instant; null without a change. */
  readonly coming: Map<AssetName, { readonly policy: RefPolicy | null; readonly at: number }>;
  readonly months: Map<string, bigint>;
  /** Oldest first. */
  readonly entries: RefEntry[];
  /** When balances last changed; 0 before. */
  changedAt: number;
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
  /** How far its time zone is from UTC. */
  readonly zoneMs: number;
  readonly keys: Map<string, RefKey>;
  readonly events: RefEvent[];
  readonly transfers: RefTransfer[];
  readonly bonuses: RefPayment[];
  readonly payouts: RefPayout[];
  readonly schedules: RefListed[];
  readonly bonus_batches: RefBatch[];
  readonly payout_batches: RefBatch[];
  feeAccount: RefAccount | null;
  /** How long what lowers a policy waits. */
  policyDelayS: number;
  readonly fees: Map<AssetName, { flat: bigint; basisPoints: bigint; cap: bigint | null }>;
}

/** The result of a used key: a refusal for ever, or a resource, which is shown as it is now. */
interface RefKey {
  readonly content: string;
  readonly result: Expected | Pick<RefListed, 'json'>;
}

export interface RefPolicy {
  readonly threshold: bigint;
  readonly approvals: number;
  readonly expiresInS: number;
}

/** Resources that are made under a key, read and listed. */
export interface RefListed {
  /** As GET shows it now. */
  readonly json: Json;
  readonly key: string;
  readonly at: number;
  readonly source: RefAccount;
  /** The id of the own tenant; null if no other tenant sees it. */
  readonly destination: RefAccount | null;
}

/** Operations that take money out of an account. */
export interface RefOperation extends RefListed {
  json: Json;
  readonly asset: AssetName;
  readonly raw: bigint;
  readonly fee: bigint;
  /** Fixed at creation. */
  readonly feeAccount: RefAccount | null;
}

/** Operations that move money from one account to another. */
export interface RefPayment extends RefOperation {
  readonly destination: RefAccount;
}

/** Operations that may wait for approval. */
interface Approvable extends RefOperation {
  readonly month: string;
  readonly creator: ActorName;
  /** Null where none was needed. */
  readonly approval: {
    readonly required: number;
    readonly expiresAt: number;
    readonly by: Set<string>;
  } | null;
}

export interface RefTransfer extends Approvable, RefPayment {
  readonly kind: 'transfer';
  readonly destination: RefAccount;
  readonly captureWithinS: number | null;
  /** The original that it refunds; null for every other transfer. */
  readonly refunds: RefPayment | null;
  /** Null until it is held. */
  heldUntil: number | null;
}

export interface RefPayout extends Approvable {
  readonly kind: 'payout';
  /** Whether the tenant has checked who holds the key. */
  readonly isChecked: boolean;
  readonly destination: null;
  /** Raised to operators, since the rail has contradicted what is known. */
  isContradicted: boolean;
  /** Whether a contradiction reported a payment. A later denial then releases nothing. */
  wasReportedPaid: boolean;
  /** The first reference that the rail named since it got the payout. */
  named: string | null;
  /** Whether the rail's last report of an outcome denies the payment. */
  isDenied: boolean;
}

export type RefWaiting = RefTransfer | RefPayout;

export const NOT_FOUND: Expected = { status: 404, code: 'not_found' };
export const FORBIDDEN: Expected = { status: 403, code: 'authority_insufficient' };

export function limitsOf(
  account: RefAccount,
  asset: AssetName,
): { minimum: bigint; maximum: bigint; month: bigint } {
  const { minimum, maximum, month } = LIMITS[asset];
  const factor = account.type === 'business' ? 100n : 1n;
  return { minimum, maximum: maximum * factor, month: month * factor };
}

export function partyOf(account: RefAccount): Json {
  const { id, tenant, alias, displayName, type } = account;
  return { account_id: id, tenant, alias, display_name: displayName, type };
}

/** The shown destination of the tests: of the account number only its end. */
export function bankAccount(number: string): Json {
  return {
    type: 'bank_account',
    country: 'CO',
    bank_code: '0007',
    account_type: 'savings',
    account_number: `****${number.slice(-4)}`,
    holder_name: 'María Holder Núñez',
  };
}

export function invalidField(field: string, reason: string): Expected {
  const errors = [{ code: 'invalid_field', field, reason }];
  return { status: 400, code: 'invalid_field', details: { field, reason, errors } };
}

export function time(at: number): string {
  return new Date(at).toISOString();
}

/** The month in a zone that is this far from UTC. */
export function monthName(at: number, zoneMs: number): string {
  return time(at + zoneMs).slice(0, 7);
}

export function monthEnd(at: number, zoneMs: number): string {
  const local = new Date(at + zoneMs);
  return time(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 1) - zoneMs);
}

/** Returns what these entries add up to in the asset. */
export function totalOf(entries: readonly RefEntry[], asset: AssetName): bigint {
  const gained = ({ kind, raw }: RefEntry): bigint => (kind.endsWith('_in') ? raw : -raw);
  return entries.reduce((sum, entry) => (entry.asset === asset ? sum + gained(entry) : sum), 0n);
}

export function amountJson(raw: bigint, asset: AssetName): Json {
  return { raw: raw.toString(), asset };
}

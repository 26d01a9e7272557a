import type { Amount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import type { Instant } from '../../core/instant.js';
import type { Payout } from '../../db/entities/payouts.js';
import {
  type AllRailTerms,
  type BankAccountType,
  type Destination,
  GATEWAY_TERMS,
  type RailTerms,
  type RecipientKey,
  SIMULATED_TERMS,
} from './destinations.js';

/** Rails: their interface, failures and names, and the choice of a payout's rail. Pure. */

/** Why a bank or rail did not pay, or returned the money, with the text for the tenant. */
export const FAILURES = {
  account_unknown: 'the bank does not know the account',
  account_closed: 'the account is closed',
  account_blocked: 'the account cannot be credited',
  holder_mismatch: 'the account belongs to somebody else',
  bank_unavailable: 'the receiving bank could not be reached',
  limit_exceeded: 'the amount is over a limit of the rail or the bank',
  not_supported: 'the rail does not reach this bank or kind of account',
  rejected_by_bank: 'the receiving bank rejected it',
  recipient_changed: 'the key belongs to somebody else than when it was looked up',
} as const;
export type FailureCode = keyof typeof FAILURES;

/** Returns `rejected_by_bank` for a code that is not in FAILURES. */
export function failureCode(code: string): FailureCode {
  return Object.hasOwn(FAILURES, code) ? (code as FailureCode) : 'rejected_by_bank';
}

/** Returns the failure for the tenant. Its message is ours: the rail's may contain anything. */
export function failureOf(
  code: FailureCode | null,
  { keyType }: Pick<Payout, 'keyType'>,
): Pick<Payout, 'failureCode' | 'failureMessage'> {
  const isPossible = code !== 'recipient_changed' || keyType !== null;
  const failureCode = (isPossible ? code : null) ?? 'rejected_by_bank';
  return { failureCode, failureMessage: FAILURES[failureCode] };
}

/** An order to pay. A second order with the same key requests nothing new. */
export interface RailOrder {
  readonly key: Uuid;
  readonly amount: Amount;
  readonly destination: Destination;
  readonly description: string | null;
}

export interface RailReport {
  readonly status: 'accepted' | 'completed' | 'failed' | 'returned' | 'voided';
  /** The rail's name for the payment; null if it was voided before the rail had it. */
  readonly reference: string | null;
  readonly failureCode: FailureCode | null;
}

/** Who holds a key, as the rail reports it. */
export interface KeyHolder {
  /** The rail's id of the person or business, the same in every response about the same holder. */
  readonly holder: string;
  readonly holderName: string;
  readonly bankCode: string;
  readonly accountType: BankAccountType;
}

/** A way to bank accounts. Calls may be repeated, and throw RailUnresponsive if the result is unknown. */
export interface Rail {
  submit(order: RailOrder): Promise<RailReport>;
  /** Returns null if the rail reports that it never received the key. */
  status(key: Uuid): Promise<RailReport | null>;
  /** Asks the rail never to pay the key. Null if it cannot void; another report is the outcome. */
  void(key: Uuid): Promise<RailReport | null>;
  /** Returns orders received from `since` on, whose keys follow `after`. Null if it cannot list. */
  list(since: Instant, after: Uuid | null): Promise<RailPage | null>;
  /** Returns the present holder of a key. Null if the rail reports that the key does not exist. */
  resolve(key: RecipientKey): Promise<KeyHolder | null>;
}

export interface ListedPayment extends RailReport {
  readonly key: Uuid;
  readonly amount: Amount;
}

export interface RailPage {
  readonly items: readonly ListedPayment[];
  /** Null on the last page. */
  readonly next: Uuid | null;
}

/** Thrown if the rail gave no usable response. The message contains no personal data. */
export class RailUnresponsive extends Error {
  override name = 'RailUnresponsive';
}

export type Rails = ReadonlyMap<string, Rail>;

/** `*` means every tenant, or every country. */
export interface RailRoute {
  readonly tenant: string;
  readonly country: string;
  /** A name from OWN_RAILS, or `http:<name>`. */
  readonly rail: string;
}

export const SIMULATED = 'simulated';
/** The rails without a gateway, with what each takes by default. (CONTRIBUTING.md, A rail) */
const OWN_TERMS = { [SIMULATED]: SIMULATED_TERMS } as const satisfies Record<string, RailTerms>;
export type OwnRail = keyof typeof OWN_TERMS;
export const OWN_RAILS = Object.keys(OWN_TERMS) as readonly OwnRail[];
const HTTP = 'http:';

export function isOwnRail(rail: string): rail is OwnRail {
  return OWN_RAILS.some((own) => own === rail);
}

export function railNamed(name: string): string {
  return isOwnRail(name) ? name : httpRail(name);
}

export function httpRail(gateway: string): string {
  return HTTP + gateway;
}

/** Returns the name of the rail's gateway; null for other kinds of rail. */
export function gatewayOf(rail: string): string | null {
  return rail.startsWith(HTTP) ? rail.slice(HTTP.length) : null;
}

/** Returns the operator's settings of the rail, or else the usual ones of its kind. */
export function termsOf(terms: AllRailTerms, rail: string): RailTerms {
  return terms.get(rail) ?? (isOwnRail(rail) ? OWN_TERMS[rail] : GATEWAY_TERMS);
}

/** Returns the rail of the most specific matching route, where a tenant outweighs a country. */
export function chooseRail(
  routes: readonly RailRoute[],
  tenant: { readonly id: string; readonly name: string },
  country: string,
): string | null {
  const weightOf = (route: RailRoute): number =>
    (route.tenant === '*' ? 0 : 2) + (route.country === '*' ? 0 : 1);
  const matches = ({ tenant: name, country: where }: RailRoute): boolean =>
    ['*', tenant.id, tenant.name].includes(name) && ['*', country].includes(where);
  const [best] = routes.filter(matches).sort((a, b) => weightOf(b) - weightOf(a));
  return best?.rail ?? null;
}

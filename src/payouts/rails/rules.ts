/** The failures that rails can report, and the choice of a payout's rail. Pure. */

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
} as const;
export type FailureCode = keyof typeof FAILURES;

/** An unknown name from a rail is still a failure. */
export function failureCode(named: string): FailureCode {
  return Object.hasOwn(FAILURES, named) ? (named as FailureCode) : 'rejected_by_bank';
}

/** `*` means every tenant, or every country. */
export interface RailRoute {
  readonly tenant: string;
  readonly country: string;
  /** One of OWN_RAILS, or `http:<name>`. */
  readonly rail: string;
}

export const SIMULATED = 'simulated';
/** The rails that are no gateway's. (CONTRIBUTING.md, A rail) */
export const OWN_RAILS = [SIMULATED] as const;
export type OwnRail = (typeof OWN_RAILS)[number];
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

/** The name of the rail's gateway; null for other kinds of rail. */
export function gatewayOf(rail: string): string | null {
  return rail.startsWith(HTTP) ? rail.slice(HTTP.length) : null;
}

/** The most specific matching route, where a tenant outweighs a country. */
export function chooseRail(
  routes: readonly RailRoute[],
  tenant: { readonly id: string; readonly name: string },
  country: string,
): string | null {
  const weightOf = (route: RailRoute): number =>
    (route.tenant === '*' ? 0 : 2) + (route.country === '*' ? 0 : 1);
  const fitting = routes.filter(
    (route) =>
      ['*', tenant.id, tenant.name].includes(route.tenant) &&
      ['*', country].includes(route.country),
  );
  const [best] = fitting.sort((a, b) => weightOf(b) - weightOf(a));
  return best?.rail ?? null;
}

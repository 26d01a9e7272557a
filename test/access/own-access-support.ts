import { keyIdOf } from '../../src/access/token-text.js';
import { type Role, type Scope, SCOPES } from '../../src/core/permissions.js';
import type { Member } from '../../src/db/entities/parties.js';
import type { RequestOptions, TestAnswer } from '../helpers/api.js';
import { answered, type Bank, text } from '../helpers/bank.js';
import { until } from '../helpers/temporal.js';

/** A member with roles in accounts, and a token with every scope unless others are given. */
export interface Person {
  readonly member: Member;
  readonly token: string;
  readonly keyId: string;
}

export async function person(bank: Bank, scopes: readonly Scope[] = SCOPES): Promise<Person> {
  const member = await bank.member();
  const token = await bank.issue(member, scopes);
  return { member, token, keyId: keyIdOf(token) ?? '' };
}

export function setRole(
  bank: Bank,
  account: { readonly id: string },
  member: { readonly id: string },
  role: Role,
  options: RequestOptions = {},
): Promise<TestAnswer> {
  const path = `/v1/accounts/${account.id}/roles/${member.id}`;
  return bank.request('PUT', path, { body: { role }, ...options });
}

export function createToken(
  bank: Bank,
  member: { readonly id: string },
  options: RequestOptions & { readonly scopes?: readonly Scope[]; readonly more?: object } = {},
): Promise<TestAnswer> {
  const { scopes = ['read', 'access'], more, ...rest } = options;
  const body = { member_id: member.id, scopes, name: 'a server', ...more };
  return bank.request('POST', '/v1/tokens', { body, ...rest });
}

/** Creates a token, which must succeed. */
export async function created(...request: Parameters<typeof createToken>): Promise<{
  readonly token: string;
  readonly keyId: string;
}> {
  const { json } = answered(await createToken(...request), 201);
  return { token: text(json.token), keyId: text(json.key_id) };
}

/** Asks until the answer has the status, for at most the five seconds of a revocation. */
export function untilStatus(ask: () => Promise<TestAnswer>, status: number): Promise<true> {
  const hasStatus = async (): Promise<boolean> => (await ask()).status === status;
  return until(`the answer is ${status}`, hasStatus, { limitMs: 5_000 });
}

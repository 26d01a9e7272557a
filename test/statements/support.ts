import type { Clock } from '../../src/core/instant.js';
import { toRfc3339, type Instant } from '../../src/core/instant.js';
import { StatementMaker } from '../../src/statements/statement-maker.js';
import { answered, type Bank, type Json, text } from '../helpers/bank.js';
import type { RequestOptions, TestAnswer, TestApi } from '../helpers/api.js';

interface WantedStatement {
  readonly account: { readonly id: string };
  readonly from: Instant;
  readonly to: Instant;
  readonly asset?: string;
}

/** Sends POST /v1/statements, and returns any response. */
export function askStatement(
  bank: Pick<Bank, 'request'>,
  { account, from, to, asset = 'COPM' }: WantedStatement,
  options: RequestOptions = {},
): Promise<TestAnswer> {
  const body = { account_id: account.id, asset, from: toRfc3339(from), to: toRfc3339(to) };
  return bank.request('POST', '/v1/statements', { body, ...options });
}

/** Makes all files that wait, as a worker's sweeps do. */
export async function makeStatements(
  { core }: Pick<TestApi, 'core'>,
  clock: Clock = core.clock,
): Promise<void> {
  const { database } = core;
  const { signal } = new AbortController();
  for (const length of ['short', 'long'] as const) {
    const maker = new StatementMaker({ database, clock }, length);
    while (await maker.makeNext(signal));
  }
}

export async function statementOf(bank: Pick<Bank, 'get'>, id: unknown): Promise<Json> {
  return answered(await bank.get(`/v1/statements/${text(id)}`), 200).json;
}

import type { Api } from '../http/api.js';
import { answerPage, type Cursors, cursorBinding } from '../http/cursor.js';
import { answers, named, pathId, permits, query, summary } from '../http/route.js';
import { AccountPageSchema, AccountQuery, accountResource, AccountSchema } from './schemas.js';
import {
  BalancesAnswer,
  BalancesQuery,
  LimitsSchema,
  MovementPageSchema,
  MovementQuery,
} from './schemas-money.js';
import { assertAccountAllowed } from './access.js';
import { Balances } from './balances.js';
import { presentMovement, readMovements } from './movements.js';
import { type ReadingDeps, readPastBalances } from './past-balances.js';
import { listAccounts, readAccount, readLimits } from './reading.js';

export function accountRoutes(api: Api, deps: ReadingDeps, cursors: Cursors): void {
  listAndRead(api, deps, cursors);
  fundsAndMovements(api, deps, cursors);
}

function listAndRead(
  api: Api,
  { database: { reader }, clock }: ReadingDeps,
  cursors: Cursors,
): void {
  api.get(
    '/v1/accounts',
    named('listAccounts'),
    permits('readAccount'),
    query(AccountQuery),
    answers({ 200: AccountPageSchema }),
    summary('List accounts', "Those in which the token's member has a role, newest first."),
    (request) => {
      const { type, status } = request.query;
      return answerPage(
        cursors,
        request,
        (before, limit) => listAccounts(reader, request.caller, { type, status }, before, limit),
        accountResource.present,
      );
    },
  );

  api.get(
    '/v1/accounts/{account_id}',
    named('getAccount'),
    permits('readAccount'),
    answers({ 200: AccountSchema }),
    summary('Read an account'),
    async (request) => ({
      status: 200,
      body: accountResource.present(
        await readAccount(reader, request.caller, pathId(request, 'account_id')),
      ),
    }),
  );

  api.get(
    '/v1/accounts/{account_id}/limits',
    named('getLimits'),
    permits('readLimits'),
    answers({ 200: LimitsSchema }),
    summary(
      'Read the limits of an account',
      'For a single operation, and for the month with the amount used.',
    ),
    async (request) => ({
      status: 200,
      body: await readLimits(reader, request.caller, pathId(request, 'account_id'), clock()),
    }),
  );
}

function fundsAndMovements(api: Api, deps: ReadingDeps, cursors: Cursors): void {
  const { reader } = deps.database;
  const balances = new Balances(reader);
  api.get(
    '/v1/accounts/{account_id}/balances',
    named('getBalances'),
    permits('readAccount'),
    query(BalancesQuery),
    answers({ 200: BalancesAnswer }),
    summary(
      'Read the balances of an account',
      'Held funds are part of the total but cannot be spent. With `at`, the exact totals at a past moment, which never change.',
    ),
    async (request) => {
      const { caller, query: wanted } = request;
      const accountId = pathId(request, 'account_id');
      if (wanted.at !== undefined)
        return { status: 200, body: await readPastBalances(deps, caller, accountId, wanted.at) };
      return { status: 200, body: await balances.read(caller, accountId, deps.clock()) };
    },
  );

  api.get(
    '/v1/accounts/{account_id}/movements',
    named('listMovements'),
    permits('readAccount'),
    query(MovementQuery),
    answers({ 200: MovementPageSchema }),
    summary('List the movements of an account', 'Newest first.'),
    async (request) => {
      const binding = cursorBinding(request);
      const { caller, query: wanted } = request;
      const filter = {
        asset: wanted.asset,
        kind: wanted.kind,
        from: wanted['created_at[gte]'],
        to: wanted['created_at[lte]'],
      };
      const [seq] = wanted.cursor === undefined ? [] : cursors.decode(binding, wanted.cursor);
      const before = seq === undefined ? null : BigInt(seq);
      const accountId = pathId(request, 'account_id');
      await assertAccountAllowed(reader, 'readAccount', caller, accountId);
      const page = await readMovements(reader, accountId, filter, before, wanted.limit);
      const next =
        page.nextBefore === null ? null : cursors.encode(binding, [page.nextBefore.toString()]);
      return { status: 200, body: { items: page.items.map(presentMovement), next_cursor: next } };
    },
  );
}

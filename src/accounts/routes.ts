import type { Api } from '../http/api.js';
import { type Cursors, cursorBinding } from '../http/cursor.js';
import { answers, pathId, permits, query, refuses, summary } from '../http/route.js';
import { BalancesSchema, MovementPageSchema, MovementQuery } from './schemas.js';
import type { AccountReading } from './service.js';

export function accountRoutes(api: Api, accounts: AccountReading, cursors: Cursors): void {
  api.get(
    '/v1/accounts/{account_id}/balances',
    permits('readAccount'),
    answers({ 200: BalancesSchema }),
    refuses('not_found', 'authority_insufficient'),
    summary('Read the balances of an account', 'Held funds are part of the total but cannot be spent.'),
    async (request) => ({
      status: 200,
      body: await accounts.balances(request.caller, pathId(request, 'account_id')),
    }),
  );

  api.get(
    '/v1/accounts/{account_id}/movements',
    permits('readAccount'),
    query(MovementQuery),
    answers({ 200: MovementPageSchema }),
    refuses('not_found', 'authority_insufficient'),
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
      const page = await accounts.movements(caller, pathId(request, 'account_id'), filter, before, wanted.limit);
      const next = page.nextBefore === null ? null : cursors.encode(binding, [page.nextBefore.toString()]);
      return { status: 200, body: { items: page.items, next_cursor: next } };
    },
  );
}

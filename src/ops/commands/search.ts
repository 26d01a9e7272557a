import type { Amount } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, toRfc3339 } from '../../core/instant.js';
import {
  findCreatedWithin,
  RECENT_DAYS,
  recentWindow,
} from '../../support/reading/operation-search.js';
import { countFound, MAX_FOUND } from '../../support/reading/search.js';
import { findAnywhere } from '../../support/reading/term-search.js';
import { namesOf } from '../../support/reading/transfers.js';
import { query } from '../command.js';
import { text } from '../inputs.js';
import type { Fields } from '../output.js';

interface Owned {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly status: string;
  readonly createdAt: Instant;
}

export const searchCommand = query({
  summary: 'find resources of any tenant by what a customer or a bank tells you',
  explanation: `
TEXT is an id or its beginning, an alias, a phone or its last digits, an Idempotency-Key, a value of metadata, the beginning
of a reference, or words and amounts in any order, as at the support desk: 'Pérez', 'november rent', 'Ana 25,000'. If nothing has it, operations of the last ${RECENT_DAYS} days are searched for it as a part of their description, of a bank
account's holder or of a rail's reference. At most ${MAX_FOUND} of each kind are shown.`,
  examples: ["search '$ana'", "search 'Ana 25,000'", 'search case-118 --json'],
  input: { text },
  run: async ({ database: { reader }, clock, output }, { text: asked }) => {
    const indexed = (await findAnywhere(reader, asked, clock())).found;
    const filter = { amounts: null, about: { text: asked, ids: [] } };
    const found =
      countFound(indexed) > 0
        ? indexed
        : (await findCreatedWithin(reader, [recentWindow(clock())], filter)).found;
    const { accounts, transfers, payouts, bonuses, batches, adjustments } = found;
    const { endpoints, payIns, schedules } = found;
    const all = [accounts, transfers, payouts, bonuses, batches, adjustments, payIns].flat();
    const names = await namesOf(reader, [...all, ...endpoints, ...schedules]);
    const line = (kind: string, one: Owned, name: string, amount: Amount | null = null): Fields => {
      const { id, status, createdAt } = one;
      const tenant = names.tenant(one.tenantId);
      return { kind, id, tenant, name, status, amount, created_at: toRfc3339(createdAt) };
    };
    const rows = [
      ...found.tenants.map(({ id, name, createdAt }): Fields => {
        const none = { status: null, amount: null };
        return {
          kind: 'tenant',
          id,
          tenant: name,
          name,
          ...none,
          created_at: toRfc3339(createdAt),
        };
      }),
      ...accounts.map((one) => line('account', one, one.name)),
      ...[
        ...transfers.map((one) => ['transfer', one] as const),
        ...payouts.map((one) => ['payout', one] as const),
        ...bonuses.map((one) => ['bonus', { ...one, status: 'completed' }] as const),
      ].map(([kind, one]) => line(kind, one, names.account(one.sourceAccountId), one)),
      ...batches.map((one) => line('batch', one, names.account(one.sourceAccountId))),
      ...adjustments.map((one) => line('adjustment', one, one.reference, one)),
      ...payIns.map((one) =>
        line('pay-in', { ...one, status: 'completed' }, names.account(one.accountId), one),
      ),
      ...endpoints.map((one) => line('webhook endpoint', one, one.url)),
      ...schedules.map((one) => line('schedule', one, names.account(one.sourceAccountId))),
    ];
    output.list(rows, `Nothing was found for "${asked}".`);
  },
});

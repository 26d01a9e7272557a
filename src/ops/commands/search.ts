import { type Amount, ASSETS, disjunction, formatAmount, parseRaw } from '../../core/amount.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, instant, toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import type { Tenant } from '../../db/entities/parties.js';
import {
  findCreatedWithin,
  RECENT_DAYS,
  recentWindow,
} from '../../support/reading/operation-search.js';
import { destinationText } from '../../payouts/rules.js';
import { countFound, MAX_FOUND, type SearchResult } from '../../support/reading/search.js';
import { aboutText, findAnywhere, mergeResults } from '../../support/reading/term-search.js';
import { namesOf } from '../../support/reading/transfers.js';
import { endpointWord } from '../../webhooks/endpoint-text.js';
import { query } from '../command.js';
import { PROGRAM } from '../help.js';
import { oneOf, onlyTenant, option, text } from '../inputs.js';
import type { Fields } from '../fields.js';
import { time } from '../times.js';

interface Owned {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly status?: string;
  readonly createdAt: Instant;
  readonly createdBy?: Uuid;
  readonly proposedBy?: string;
}

type Paid = Amount & { readonly sourceAccountId: Uuid };

/** The kinds of resources by the names that --kind takes. */
const KINDS = {
  tenant: 'tenants',
  account: 'accounts',
  transfer: 'transfers',
  payout: 'payouts',
  bonus: 'bonuses',
  batch: 'batches',
  adjustment: 'adjustments',
  'pay-in': 'payIns',
  endpoint: 'endpoints',
  schedule: 'schedules',
} as const satisfies Readonly<Record<string, keyof SearchResult>>;
/** Accounts whose movements a remark names. */
const MOST_NAMED = 5;
const KIND_NAMES = Object.keys(KINDS) as readonly (keyof typeof KINDS)[];

interface Restriction {
  readonly kind?: keyof typeof KINDS | undefined;
  readonly tenant?: Tenant | undefined;
  readonly since?: Instant | undefined;
}

export const searchCommand = query({
  summary: 'find resources of any tenant by what a customer or a bank tells you',
  explanation: `
TEXT is an id or its beginning, an alias, a phone or its last digits, an Idempotency-Key, a value of metadata, the beginning
of a reference or of the URL of a webhook endpoint, or words and amounts in any order, of an operation and of a person's name together: 'Pérez', 'november rent',
'Ana 25,000', 'Ana rent'. If nothing has it, operations of the last ${RECENT_DAYS} days, or those from --since on, are searched for parts of
words in their description, in a bank account's holder or in a rail's reference. At most ${MAX_FOUND} of each kind are shown.`,
  examples: [
    "search '$ana'",
    "search 'Ana 25,000'",
    'search november --kind payout --since 30d --json',
  ],
  input: {
    text: text.regex(/\S/, 'give an id, a name, a word or an amount'),
    kind: option('<kind> only resources of this kind', oneOf(KIND_NAMES).optional()),
    tenant: onlyTenant,
    since: option('<time> only what was created from this time on', time.optional()),
  },
  run: async ({ database: { reader }, clock, output }, { text: asked, ...only }) => {
    const now = clock();
    const { since } = only;
    const indexed = narrow((await findAnywhere(reader, asked, now)).found, only);
    const window = recentWindow(now, since === undefined ? undefined : Math.max(0, now - since));
    const filter = { amounts: null, about: aboutText(asked) };
    const recent =
      countFound(indexed) > 0
        ? indexed
        : narrow((await findCreatedWithin(reader, [window], filter)).found, only);
    const raw = /^[0-9]{3,}$/.test(asked) && countFound(recent) === 0 ? parseRaw(asked) : null;
    const amounts = raw === null ? [] : ASSETS.map((asset) => formatAmount({ raw, asset }));
    const paid = await Promise.all(amounts.map((one) => findAnywhere(reader, one, now)));
    const found = paid.reduce((all, one) => mergeResults(all, narrow(one.found, only)), recent);
    const rows = await linesOf(reader, found);
    output.list(rows, `Nothing was found for "${asked}".`);
    if (amounts.length > 0) output.say(`${asked} was read as ${disjunction(amounts)} too.`);
    for (const { id, name } of found.accounts.slice(0, MOST_NAMED))
      output.say(`All movements of ${name}: ${PROGRAM} accounts movements ${id}`);
  },
});

/** Returns the rows of this kind and tenant that were created since then. */
function narrow(
  found: SearchResult,
  { kind, tenant, since = instant(0) }: Restriction,
): SearchResult {
  const kept = Object.entries(found).map(([name, rows]) => {
    const isOfKind = kind === undefined || KINDS[kind] === name;
    const wanted = (rows as readonly (Omit<Owned, 'tenantId'> & Partial<Owned>)[]).filter(
      ({ id, tenantId = id, createdAt }) =>
        isOfKind && tenantId === (tenant?.id ?? tenantId) && createdAt >= since,
    );
    return [name, wanted];
  });
  return Object.fromEntries(kept) as SearchResult;
}

/** Returns a line for each of these resources. */
export async function linesOf(
  reader: Reader,
  found: Partial<SearchResult>,
): Promise<readonly Fields[]> {
  const { accounts = [], transfers = [], payouts = [], bonuses = [], batches = [] } = found;
  const { adjustments = [], endpoints = [], payIns = [], schedules = [] } = found;
  const all = [accounts, transfers, payouts, bonuses, batches, adjustments, payIns].flat();
  const tenants = (found.tenants ?? []).map((one) => ({ ...one, tenantId: one.id }));
  const names = await namesOf(reader, [...all, ...endpoints, ...schedules, ...tenants]);
  const line = (
    kind: string,
    one: Owned,
    name: string,
    to: string | null = null,
    amount: Amount | null = null,
  ): Fields => {
    const { id, status = null, createdAt } = one;
    const tenant = names.tenant(one.tenantId);
    const requested_by = one.createdBy ? names.person(one.createdBy) : (one.proposedBy ?? null);
    const created_at = toRfc3339(createdAt);
    return { kind, id, tenant, name, to, status, amount, created_at, requested_by };
  };
  const receiver = (id: Uuid, { tenantId }: Owned): string => names.account(id, tenantId);
  const payment = (kind: string, one: Owned & Paid, to: string): Fields =>
    line(kind, one, names.account(one.sourceAccountId), to, one);
  return [
    ...tenants.map((one) => line('tenant', one, one.name)),
    ...accounts.map((one) => line('account', one, one.name)),
    ...transfers.map((one) => payment('transfer', one, receiver(one.destinationAccountId, one))),
    ...payouts.map((one) => payment('payout', one, destinationText(one))),
    ...bonuses.map((one) =>
      payment('bonus', { ...one, status: 'completed' }, receiver(one.recipientAccountId, one)),
    ),
    ...batches.map((one) => {
      const total = one.asset && { raw: one.totalRaw, asset: one.asset };
      return line('batch', one, names.account(one.sourceAccountId), null, total);
    }),
    ...adjustments.map((one) =>
      line('adjustment', one, one.reference, names.account(one.accountId), one),
    ),
    ...payIns.map((one) => {
      const to = names.account(one.accountId);
      return line('pay-in', { ...one, status: 'completed' }, one.reference, to, one);
    }),
    ...endpoints.map((one) =>
      line('webhook endpoint', { ...one, status: endpointWord(one) }, one.url),
    ),
    ...schedules.map((one) => payment('schedule', one, receiver(one.destinationAccountId, one))),
  ];
}

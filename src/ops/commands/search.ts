import { ASSETS, disjunction, formatAmount, parseRaw } from '../../core/amount.js';
import { type Instant, instant } from '../../core/instant.js';
import type { Tenant } from '../../db/entities/parties.js';
import {
  findCreatedWithin,
  RECENT_DAYS,
  recentWindow,
} from '../../support/reading/operation-search.js';
import { countFound, MAX_FOUND, type SearchResult } from '../../support/reading/search.js';
import { aboutText, findAnywhere, mergeResults } from '../../support/reading/term-search.js';
import { query } from '../command.js';
import { PROGRAM } from '../help.js';
import { oneOf, onlyTenant, option, text } from '../inputs.js';
import { linesOf, type Owned } from '../lines.js';
import { time } from '../times.js';

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
    for (const { id, name } of found.accounts.slice(0, MOST_NAMED)) {
      output.say(`All movements of ${name}: ${PROGRAM} accounts movements ${id}`);
      output.say(`Transfers to it, also those that wait: ${PROGRAM} transfers list --to ${id}`);
      output.say(`Transfers from it: ${PROGRAM} transfers list --account ${id}`);
    }
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

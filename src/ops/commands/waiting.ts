import { type Instant, toRfc3339 } from '../../core/instant.js';
import { readTakers } from '../../staff/remarks.js';
import { relative } from '../../support/reading/timeline.js';
import { LISTS, readWaiting, WAITING_KINDS } from '../../support/reading/waiting.js';
import { query } from '../command.js';
import { limit, oneOf, onlyTenant, option } from '../inputs.js';
import { beginningWith, type Fields } from '../fields.js';
import { amountHint, ofAmount } from '../pages.js';
import { linesOf } from './search.js';

const EXPLANATION = `
The lists are those of the support desk:
${WAITING_KINDS.map((kind) => `  ${kind.padEnd(12)}${LISTS[kind].title}. ${LISTS[kind].about}`).join('\n')}`;

export const waitingCommand = query({
  summary: 'what waits for a person, of all tenants, as the support desk lists it',
  explanation: EXPLANATION,
  examples: ['waiting', 'waiting --list transfers --tenant acme --json', 'waiting --watch'],
  input: {
    list: option('<list> only this list (default: all of them)', oneOf(WAITING_KINDS).optional()),
    tenant: onlyTenant,
    amount: ofAmount,
    limit,
  },
  run: async ({ database: { reader }, clock, output }, { list, tenant, amount, limit: most }) => {
    const expiryOf = (at: Instant | null) =>
      at !== null && output.isOnTerminal ? relative(at, clock()) : toRfc3339(at);
    const filter = { tenantId: tenant?.id ?? null, amounts: amount ?? null };
    const rows: Fields[] = [];
    const cut: string[] = [];
    for (const kind of list === undefined ? WAITING_KINDS : [list]) {
      const { items, next } = await readWaiting(reader, kind, null, most, filter);
      if (next !== null) cut.push(kind);
      const ids = items.map(({ id }) => id);
      const [lines, takers] = await Promise.all([
        linesOf(reader, { [LISTS[kind].rows]: items }),
        readTakers(reader, ids, clock()),
      ]);
      for (const [index, item] of items.entries()) {
        const isPending = 'approvalExpiresAt' in item && item.status === 'pending_approval';
        const fields = {
          list: kind,
          ...lines[index],
          expires_at: isPending ? expiryOf(item.approvalExpiresAt) : null,
          taken_by: takers.get(item.id)?.name ?? null,
        };
        rows.push(beginningWith('list id status amount expires_at name to tenant', fields));
      }
    }
    const hintWhenNone = amountHint(amount);
    output.list(rows, 'Nothing waits.', {
      detailsOnly: list === undefined ? ['kind'] : ['kind', 'list'],
      hintWhenNone,
    });
    if (cut.length > 0) output.more(`The first ${most} of ${cut.join(', ')}; --limit shows more.`);
  },
});

import { type Instant, toRfc3339 } from '../../core/instant.js';
import { approvalProgress, PENDING_APPROVAL } from '../../approvals/rules.js';
import { payoutResolutions } from '../../db/entities/payouts.js';
import { readTakers } from '../../staff/remarks.js';
import { relative } from '../../support/reading/timeline.js';
import { LISTS, readWaiting, WAITING_KINDS } from '../../support/reading/waiting.js';
import { query } from '../command.js';
import { UsageError } from '../failures.js';
import { flag, limit, oneOf, onlyTenant, option, optionalText } from '../inputs.js';
import { beginningWith, Described, type Fields } from '../fields.js';
import { findActor } from '../staff/authorisation.js';
import { amountHint, ofAmount } from '../pages.js';
import { linesOf } from '../lines.js';

const EXPLANATION = `
The lists are those of the support desk:
${WAITING_KINDS.map((kind) => `  ${kind.padEnd(12)}${LISTS[kind].title}. ${LISTS[kind].about}`).join('\n')}`;

const FIRST = 'list id amount tenant name to expires_at approvals requested_by taken_by status';

export const waitingCommand = query({
  summary: 'what waits for a person, of all tenants, as the support desk lists it',
  explanation: EXPLANATION,
  examples: ['waiting', 'waiting --list transfers --tenant acme --json', 'waiting --mine --watch'],
  input: {
    list: option('<list> only this list (default: all of them)', oneOf(WAITING_KINDS).optional()),
    tenant: onlyTenant,
    mine: flag('only what you can decide now: you have the right, and did not request it'),
    as: optionalText,
    amount: ofAmount,
    limit,
  },
  run: async (ops, { list, tenant, mine, as, amount, limit: most }) => {
    const { database, clock, output } = ops;
    const { reader } = database;
    if (as !== undefined && !mine) throw new UsageError('--as needs --mine');
    const decidedBy = mine ? (await findActor(ops)).identity : undefined;
    const expiryOf = (at: Instant) => (output.isOnTerminal ? relative(at, clock()) : toRfc3339(at));
    const filter = { tenantId: tenant?.id ?? null, amounts: amount ?? null, decidedBy };
    const rows: Fields[] = [];
    const cut: string[] = [];
    for (const kind of list === undefined ? WAITING_KINDS : [list]) {
      const { items, next } = await readWaiting(reader, kind, null, most, filter);
      if (next !== null) cut.push(kind);
      const ids = items.map(({ id }) => id);
      const proposed = { payoutId: kind === 'proposals' ? ids : [], status: 'proposed' } as const;
      const [lines, takers, proposals] = await Promise.all([
        linesOf(reader, { [LISTS[kind].rows]: items }),
        readTakers(reader, ids, clock()),
        reader.select(payoutResolutions, proposed),
      ]);
      const proposers = new Map(proposals.map((one) => [one.payoutId, one.proposedBy]));
      for (const [index, item] of items.entries()) {
        const isPending = 'approvalExpiresAt' in item && item.status === PENDING_APPROVAL;
        const progress = isPending ? approvalProgress(item) : null;
        const { received = 0, required = 0 } = progress ?? {};
        const fields = {
          list: kind,
          ...lines[index],
          expires_at: progress && expiryOf(progress.expiresAt),
          approvals:
            progress && Described.one(`${received} of ${required}`, { received, required }),
          ...(proposers.has(item.id) && { requested_by: proposers.get(item.id) ?? null }),
          taken_by: takers.get(item.id)?.name ?? null,
        };
        rows.push(beginningWith(FIRST, fields));
      }
    }
    const hintWhenNone = amountHint(amount);
    output.list(rows, 'Nothing waits.', {
      detailsOnly: ['kind', ...(list ? ['list'] : []), ...(tenant ? ['tenant'] : [])],
      hintWhenNone,
    });
    if (cut.length > 0) output.more(`The first ${most} of ${cut.join(', ')}; --limit shows more.`);
  },
});

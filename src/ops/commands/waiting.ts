import { type Instant, toRfc3339 } from '../../core/instant.js';
import { approvalProgress, PENDING_APPROVAL } from '../../approvals/rules.js';
import type { Reader } from '../../db/database.js';
import { type PayoutResolution, payoutResolutions } from '../../db/entities/payouts.js';
import { readTakers } from '../../staff/remarks.js';
import { stuckText } from '../../support/reading/payouts.js';
import type { Rows } from '../../support/reading/search.js';
import { relative } from '../../support/reading/timeline.js';
import {
  LISTS,
  readWaiting,
  WAITING_KINDS,
  type WaitingKind,
} from '../../support/reading/waiting.js';
import { query } from '../command.js';
import { UsageError } from '../failures.js';
import { flag, limit, oneOf, onlyTenant, option, optionalText } from '../inputs.js';
import { beginningWith, Described, type Fields } from '../fields.js';
import { findActor } from '../staff/authorisation.js';
import { amountHint, ofAmount } from '../pages.js';
import { linesOf } from '../lines.js';
import { readLastError } from './webhooks.js';

const EXPLANATION = `
The lists are those of the support desk:
${WAITING_KINDS.map((kind) => `  ${kind.padEnd(12)}${LISTS[kind].title}. ${LISTS[kind].about}`).join('\n')}`;

const FIRST =
  'list id amount wants tenant name to reason expires_at approvals requested_by since taken_by status';

/** Returns what its proposer wants, why it waits, and since when. */
async function waitFields(
  reader: Reader,
  item: Rows[(typeof LISTS)[WaitingKind]['rows']],
  proposal: PayoutResolution | undefined,
): Promise<Fields> {
  const fields = (reason: string | null, since: Instant | null, wants: string | null = null) => ({
    wants,
    reason,
    since: toRfc3339(since ?? item.createdAt),
  });
  if (proposal !== undefined) return fields(proposal.reason, proposal.createdAt, proposal.outcome);
  if ('direction' in item) return fields(item.reason, item.createdAt, item.direction);
  if ('stuckSince' in item) {
    const isUnanswered = item.status === 'in_progress' ? 'its rail has reported nothing' : null;
    return fields(stuckText(item) ?? isUnanswered, item.stuckSince ?? item.submittedAt);
  }
  if ('url' in item) {
    const { disabledReason, pausedBy, failingSince, disabledAt, pausedAt } = item;
    const paused = pausedBy && `paused by ${pausedBy}`;
    const reason = disabledReason ?? paused ?? (await readLastError(reader, item));
    return fields(reason, failingSince ?? disabledAt ?? pausedAt);
  }
  if (!('rowsFailed' in item)) return fields(null, null);
  const { rowsRejected, rowsFailed, rowCount, rejectionCode, pauseReason } = item;
  const count = rowsRejected || rowsFailed;
  const verb = rowsRejected > 0 ? 'rejected' : 'failed';
  const faulty = count > 0 ? `${count} of ${rowCount} rows ${verb}` : null;
  return fields(rejectionCode ?? faulty ?? pauseReason, item.finishedAt ?? item.validatedAt);
}

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
    const blocks = new Map<WaitingKind, readonly Fields[]>();
    const cut: string[] = [];
    const kinds = (list === undefined ? WAITING_KINDS : [list]).filter(
      (kind) => amount === undefined || LISTS[kind].amount !== null,
    );
    for (const kind of kinds) {
      const { items, next } = await readWaiting(reader, kind, null, most, filter);
      if (next !== null) cut.push(kind);
      const ids = items.map(({ id }) => id);
      const proposed = { payoutId: kind === 'proposals' ? ids : [], status: 'proposed' } as const;
      const [lines, takers, proposals] = await Promise.all([
        linesOf(reader, { [LISTS[kind].rows]: items }),
        readTakers(reader, ids, clock()),
        reader.select(payoutResolutions, proposed),
      ]);
      const ofPayout = new Map(proposals.map((one) => [one.payoutId, one]));
      const lineOf = async (item: (typeof items)[number], index: number): Promise<Fields> => {
        const proposal = ofPayout.get(item.id);
        const isPending = 'approvalExpiresAt' in item && item.status === PENDING_APPROVAL;
        const progress = isPending ? approvalProgress(item) : null;
        const { received = 0, required = 0 } = progress ?? {};
        const fields = {
          list: kind,
          ...lines[index],
          expires_at: progress && expiryOf(progress.expiresAt),
          approvals:
            progress && Described.one(`${received} of ${required}`, { received, required }),
          ...(proposal && { requested_by: proposal.proposedBy }),
          ...(await waitFields(reader, item, proposal)),
          taken_by: takers.get(item.id)?.name ?? null,
        };
        return beginningWith(FIRST, fields);
      };
      if (items.length > 0) blocks.set(kind, await Promise.all(items.map(lineOf)));
    }
    const options = {
      detailsOnly: ['kind', 'list', 'created_at', ...(tenant ? ['tenant'] : [])],
      hintWhenNone: amountHint(amount),
    };
    const [first] = blocks.keys();
    if (list !== undefined || first === undefined || !output.isText)
      output.list([...blocks.values()].flat(), 'Nothing waits.', options);
    else
      for (const [kind, rows] of blocks) {
        const count = `${rows.length}${cut.includes(kind) ? ' or more' : ''}`;
        const heading = `${LISTS[kind].title}: ${count} (--list ${kind})`;
        output.picture(kind === first ? heading : `\n${heading}`);
        output.list(rows, '', options);
      }
    if (cut.length > 0) output.more(`The first ${most} of ${cut.join(', ')}; --limit shows more.`);
  },
});

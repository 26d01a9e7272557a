import { formatAmount } from '../../core/amount.js';
import { ApiError } from '../../core/errors.js';
import { type Payout, RESOLUTION_OUTCOMES } from '../../db/entities/payouts.js';
import { approveResolution, DEFAULT_QUIET_MS } from '../../payouts/resolution/approve.js';
import {
  listResolutions,
  proposeResolution,
  readSeen,
  rejectResolution,
} from '../../payouts/resolution/resolutions.js';
import { NOTHING_OPEN, OPEN_ALREADY, outcomeRefusal } from '../../payouts/resolution/checks.js';
import { retryByStaff } from '../../payouts/resolution/retry.js';
import { recipientText } from '../../payouts/rules.js';
import { PayoutSubmitter } from '../../payouts/rail-calls.js';
import { command, type Ops, query } from '../command.js';
import { OpsError, UsageError } from '../failures.js';
import { named } from '../lookups.js';
import { askedReason, flag, limit, oneOf, option, reasonOf } from '../inputs.js';
import { payoutList } from '../../payouts/service.js';
import { resolutionLine } from '../../support/reading/payouts.js';
import { namesOf } from '../../support/reading/transfers.js';
import { readWaiting } from '../../support/reading/waiting.js';
import { railCallsOf } from '../context.js';
import { PROGRAM } from '../help.js';
import { payoutApproval } from '../../payouts/decide.js';
import {
  approvalActionCommands,
  EXAMPLE_ID,
  UNTIL_APPROVED,
  type OperationCommands,
} from './approvals.js';
import { operationListCommand } from './operation-list.js';
import { reconcileCommand } from './rails.js';
import { payoutFields, readMessages, show, stuckFields } from './payout-fields.js';

const PAYOUTS: OperationCommands<Payout> = {
  noun: 'payout',
  list: payoutList,
  examples: [
    'payouts list --status failed --since 1d',
    `payouts list --batch ${EXAMPLE_ID} --columns status,amount,to,failure`,
  ],
  present: (payout, names) => ({
    ...payoutFields(payout, names.account(payout.sourceAccountId)),
    fee: { raw: payout.feeRaw, asset: payout.asset },
    description: payout.description,
    reference: payout.reference,
    failure: payout.failureMessage,
    from_account_id: payout.sourceAccountId,
    created_by: names.person(payout.createdBy),
  }),
  detailsOnly: ['rail', 'rail_reference'],
  elsewhere: { stuck: ` (${PROGRAM} payouts stuck lists those that are stuck)` },
  whenChosen: ['fee', 'description', 'reference', 'failure', 'from_account_id', 'created_by'],
  named: named.payout,
  show,
  described: (_, payout) =>
    Promise.resolve(`the payout of ${formatAmount(payout)} to ${recipientText(payout)}`),
  approval: payoutApproval,
};

async function askNow(ops: Ops, payout: Payout): Promise<Payout> {
  const calls = railCallsOf(ops);
  if (payout.endedAt !== null) return (await calls.poll(payout)).payout;
  const submitter = new PayoutSubmitter({
    calls,
    encryptionKeys: ops.encryptionKeys(),
    monotonic: () => performance.now(),
  });
  const { payout: after } = await (payout.status === 'approved'
    ? submitter.submit(payout.id, { ignoresBreaker: true })
    : submitter.poll(payout.id, { ignoresBreaker: true }));
  return after;
}

function described(payout: Payout): string {
  return `of ${formatAmount(payout)} to ${recipientText(payout)}, which is ${payout.status}`;
}

export const payoutCommands = {
  list: operationListCommand('payouts', PAYOUTS),
  'show <id>': query({
    summary:
      'one payout: what it waits for, the reports of its rail, the proposals and notes of the staff, and its webhooks',
    examples: [`payouts show ${EXAMPLE_ID}`],
    input: { id: named.payout },
    run: (ops, { id: payout }) => show(ops, payout),
  }),
  stuck: query({
    summary:
      'payouts with an unknown outcome or a contradiction by their rail; the longest stuck first',
    explanation: `
Ask the rail again with payouts retry. If it does not know, ask the bank, and resolve the payout by its answer:
payouts resolve, with a second person's approval. An outcome is never guessed.`,
    examples: ['payouts stuck', 'payouts stuck --json'],
    input: { limit },
    run: async ({ database: { reader }, clock, output }, { limit: most }) => {
      const { items: found, next } = await readWaiting(reader, 'stuck', null, most);
      const names = await namesOf(reader, found);
      const rows = [];
      for (const payout of found) {
        const from = names.account(payout.sourceAccountId);
        rows.push(stuckFields(payout, from, await readMessages(reader, payout), clock()));
      }
      const detailsOnly = ['from', 'rail_reference', 'created_at', 'stuck_for_s'];
      output.list(rows, 'No payout is stuck.', { detailsOnly });
      output.more(
        `Payouts without an answer for a minute or more: ${PROGRAM} waiting --list unanswered`,
      );
      if (next !== null) output.more(`The longest stuck ${most}; --limit shows more.`);
    },
  }),
  ...approvalActionCommands(PAYOUTS, '; until the rail has it'),
  'retry <id>': command({
    summary:
      'ask the rail for the outcome now; an order that the rail never received is submitted again under the same key',
    explanation: `
Needs PAYOUT_RAIL_URLS and PAYOUT_RAIL_KEYS as the worker has them, and ENCRYPTION_KEYS. If a rail accepted the payout and
now denies it, nothing is submitted: resolve the payout instead. Nothing is submitted while a resolution is proposed, or
after the payout has ended; the rail is only asked.`,
    examples: [`payouts retry ${EXAMPLE_ID} --reason 'ticket 118'`],
    input: { id: named.payout, reason: askedReason() },
    needs: 'payout.retry',
    run: async (ops, { id: payout, reason: given }) => {
      const { status } = payout;
      if (status !== 'approved' && payout.submittedAt === null)
        throw new OpsError(
          `the payout is ${status} and was never submitted to its rail, so there is nothing to ask`,
        );
      if (railCallsOf(ops).railOf(payout) === undefined)
        throw new OpsError(
          `the rail ${payout.rail} is not configured here: give PAYOUT_RAIL_URLS and PAYOUT_RAIL_KEYS as the worker has them`,
        );
      const reason = await reasonOf(given, ops.output);
      const ask = () => askNow(ops, payout);
      await show(ops, await retryByStaff(ops, payout, ops.actor(), ask, { reason }));
    },
  }),
  'resolve <id>': command({
    summary: "resolve a payout by the bank's answer: one person proposes, another approves",
    explanation: `
  payouts resolve ID --outcome OUTCOME --reason TEXT   proposes; nothing moves yet
  payouts resolve ID --approve --reason TEXT           a second person applies the proposal
  payouts resolve ID --reject --reason TEXT            ends the proposal

OUTCOME: completed or failed for a payout in progress; returned also for a completed one; completed also for one that
failed but was paid after all: amount and fee are taken again from the available balance. unchanged if the rail
contradicts itself and the payout is right as it is.

Nothing is submitted while a resolution is proposed. Before money is returned the rail is asked to void the payment, and
must deny it, unless it has reported that it paid and the payment came back. This needs PAYOUT_RAIL_URLS and
PAYOUT_RAIL_KEYS as the worker has them. If a rail cannot void, its last order must be at least PAYOUT_RAIL_QUIET_S old
(24 hours by default); the command shows when that time ends.`,
    examples: [
      `payouts resolve ${EXAMPLE_ID} --outcome completed --reason 'bank statement of 21 November'`,
      `payouts resolve ${EXAMPLE_ID} --approve --reason 'seen in the statement' --as leo`,
    ],
    input: {
      id: named.payout,
      outcome: option(
        `<outcome> the outcome: ${RESOLUTION_OUTCOMES.join(', ')}`,
        oneOf(RESOLUTION_OUTCOMES).optional(),
      ),
      reason: askedReason(),
      approve: flag('apply what another person proposed'),
      reject: flag('end the proposal'),
    },
    needs: {
      anyOf: ['payout.resolve_propose', 'payout.resolve_approve', 'payout.resolve_reject'],
      for: ({ approve, reject }) =>
        approve
          ? 'payout.resolve_approve'
          : reject
            ? 'payout.resolve_reject'
            : 'payout.resolve_propose',
    },
    check: ({ outcome, approve, reject }) => {
      if (Number(outcome !== undefined) + Number(approve) + Number(reject) !== 1)
        throw new UsageError('give one of --outcome, --approve and --reject');
    },
    run: async (ops, { id: payout, outcome, reason, approve }) => {
      const seen = await readSeen(ops.database.reader, payout);
      if (outcome !== undefined) {
        const refused =
          seen.proposal === undefined ? outcomeRefusal(payout, outcome) : OPEN_ALREADY;
        if (refused !== null) throw new ApiError(refused);
        const why = await reasonOf(reason, ops.output);
        const what = `Propose the outcome ${outcome} (${why}) for the payout ${described(payout)}`;
        await ops.output.confirm(what, UNTIL_APPROVED);
        const proposal = { outcome, reason: why, by: await ops.by() };
        await show(ops, await proposeResolution(ops.writer, seen, proposal));
        return ops.output.say(
          `A second person applies it: ${PROGRAM} payouts resolve ${payout.id} --approve --reason TEXT`,
        );
      }
      const last = (await listResolutions(ops.database.reader, payout.id)).at(-1);
      if (last?.status === (approve ? 'applied' : 'rejected')) {
        await show(ops, payout);
        return ops.output.say(
          `Nothing was changed, because this was done: ${resolutionLine(last)}`,
        );
      }
      if (seen.proposal === undefined) {
        const ended = last === undefined ? '' : `: ${resolutionLine(last)}`;
        throw new ApiError({ ...NOTHING_OPEN, message: `${NOTHING_OPEN.message}${ended}` });
      }
      const why = await reasonOf(reason, ops.output);
      await ops.output.confirm(
        `${approve ? 'Apply' : 'Reject'} the resolution of the payout ${described(payout)}: ${resolutionLine(seen.proposal)}`,
      );
      const quietMs = (rail: string): number =>
        ops.config.PAYOUT_RAIL_QUIET_S.get(rail) ?? DEFAULT_QUIET_MS;
      const by = await ops.by();
      const settled = approve
        ? approveResolution({ calls: railCallsOf(ops), quietMs }, seen, by, why)
        : rejectResolution(ops.writer, seen, by, why);
      await show(ops, await settled);
    },
  }),
  reconcile: reconcileCommand,
};

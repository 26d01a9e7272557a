import type { z } from 'zod';
import type { ApprovalFeature } from '../../approvals/decide.js';
import {
  allowedStatuses,
  type ApprovalAction,
  approvalProgress,
  PENDING_APPROVAL,
  SUPPORT,
} from '../../approvals/rules.js';
import { Approvals } from '../../approvals/service.js';
import { formatSums } from '../../core/amount.js';
import { counted } from '../../core/collections.js';
import { ApiError, type CommandResult } from '../../core/errors.js';
import { type Instant, toRfc3339 } from '../../core/instant.js';
import { approvals } from '../../db/entities/approvals.js';
import type { Transfer } from '../../db/entities/operations.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { Where } from '../../db/statements.js';
import { namesOf } from '../../support/reading/transfers.js';
import { type AuthorisedOps, command, type CommandDefinition, type Ops } from '../command.js';
import { EXIT, exitCodeOf, explain, OpsError, UnknownOutcome } from '../failures.js';
import { PROGRAM } from '../help.js';
import { findLastAction } from '../history.js';
import { reason } from '../inputs.js';
import { type Lookup, several } from '../lookups.js';
import { Described, type Fields } from '../fields.js';
import { capitalised } from '../output.js';
import { SHORT_ID } from '../table-text.js';
import type { ListedOperations } from './operation-list.js';

export interface OperationCommands<Row extends Transfer | Payout> extends ListedOperations<Row> {
  readonly noun: Row extends Payout ? 'payout' : 'transfer';
  readonly named: z.ZodType<Lookup<Row>>;
  readonly show: (ops: Ops, row: Row) => Promise<void>;
  /** Returns what the question before an action names. */
  readonly described: (ops: Ops, row: Row) => Promise<string>;
  readonly approval: ApprovalFeature<Row>;
}

export const EXAMPLE_ID = '01a1feef-38a9-7169-8296-3070b51f3af4';

/** Decisions of support. `until`: the last status in which it can be canceled. */
export function approvalActionCommands<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
  until = '',
) {
  const approve = "record support's approval; all staff count as one approver";
  const reject = `end a ${kind.noun} that waits: nothing leaves the account`;
  const cancel = `end it because its requester no longer wants it${until}`;
  return {
    'approve <ids...>': setCommand(kind, 'approve', approve),
    'reject <ids...>': setCommand(kind, 'reject', reject),
    'cancel <id>': command({
      summary: cancel,
      examples: [`${kind.noun}s cancel ${EXAMPLE_ID} --reason 'asked for in ticket 118'`],
      input: { id: kind.named, reason: REASON },
      needs: `${kind.noun}.cancel`,
      run: (ops, { id, reason }) => decideOne(kind, ops, id, 'cancel', reason),
    }),
  };
}

export function approvalFields(
  given: readonly { readonly by: string; readonly channel: string; readonly at: Instant }[],
): Described {
  return Described.each(
    given,
    ({ by, channel, at }) => `${by} (${channel}) at ${toRfc3339(at)}`,
    ({ by, channel, at }) => ({ by, channel, at: toRfc3339(at) }),
  );
}

const REASON = reason('; the tenant can read it for a rejection');
/** Follows from a proposal, in the question before it. */
export const UNTIL_APPROVED = 'nothing moves until another person approves it';
/** The operations of a set that its question describes. */
const MOST_NAMED = 10;
/** The worker's sweeper notifies the workflow, because commands do not connect to Temporal. */
export const NO_NOTIFIER = { notify: () => undefined };

function setCommand<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
  action: 'approve' | 'reject',
  summary: string,
): CommandDefinition {
  const { noun } = kind;
  return command({
    summary,
    explanation: `
Of several ids, or of - for the ids on standard input, one on each line, each is decided as an action of its own, after one
question. The result of each is listed. Exits with 1 if one of them was refused, and with 3 if the result of one is
unknown; repeated, it decides each only once.`,
    examples: [
      `${noun}s ${action} ${EXAMPLE_ID} --reason 'asked for in ticket 118'`,
      `${noun}s ${action} - --reason 'checked, ticket 118' --yes < ids.txt`,
    ],
    input: { ids: several(kind.named), reason: REASON },
    needs: `${noun}.${action}`,
    run: async (ops, { ids: { rows, isSet }, reason }) => {
      if (isSet) return decideSet(kind, ops, rows, action, reason);
      for (const row of rows) await decideOne(kind, ops, row, action, reason);
    },
  });
}

async function decideOne<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
  ops: AuthorisedOps,
  row: Row,
  action: ApprovalAction,
  reason: string,
): Promise<void> {
  const [described, names] = await Promise.all([
    kind.described(ops, row),
    namesOf(ops.database.reader, [row]),
  ]);
  const what = `${described} (${row.id.slice(0, SHORT_ID)} of ${names.tenant(row.tenantId)})`;
  // What is refused in any case is not asked about.
  const isOwn = row.createdBy === ops.user().id && action !== 'cancel';
  if (!isOwn && allowedStatuses(action, kind.approval.operations).includes(row.status))
    await ops.output.confirm(`${capitalised(action)} ${what}`);
  const { row: decided, remark } = await perform(kind, ops, row, action, reason);
  const needs = remark === null ? stillNeeds(decided) : null;
  const sentence =
    needs === null
      ? `${capitalised(what)} is ${decided.status}.`
      : `Your approval of ${what} is recorded; ${needs}.`;
  await ops.output.done(sentence, () => kind.show(ops, decided));
  if (remark !== null) ops.output.say(`${remark}.`);
}

/** Returns which approvals the row waits for, after that of support. Null if it waits for none. */
function stillNeeds(row: Transfer | Payout): string | null {
  const progress = row.status === PENDING_APPROVAL ? approvalProgress(row) : null;
  if (progress === null) return null;
  const more = counted(progress.required - progress.received, 'more approval');
  return `it needs ${more}, by a member of its account who may approve and did not create it`;
}

async function decideSet<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
  ops: AuthorisedOps,
  rows: readonly Row[],
  action: ApprovalAction,
  reason: string,
): Promise<void> {
  const pending = rows.filter(({ status }) => status === PENDING_APPROVAL);
  if (pending.length > 0) {
    const what = `${counted(pending.length, kind.noun)}, in total ${formatSums(pending)}`;
    const named = pending.slice(0, MOST_NAMED).map((row) => kind.described(ops, row));
    const rest = pending.length - named.length;
    const all = [...(await Promise.all(named)), ...(rest > 0 ? [`${rest} more`] : [])].join('; ');
    await ops.output.confirm(`${capitalised(action)} ${what} (${all})`);
  }
  const results: Fields[] = [];
  const failures: number[] = [];
  for (const row of rows) {
    const { id, raw, asset } = row;
    const line = { id, amount: { raw, asset } };
    try {
      const { row: decided, remark } = await perform(kind, ops, row, action, reason);
      const { status } = decided;
      results.push({ ...line, result: 'done', status, remark: remark ?? stillNeeds(decided) });
    } catch (failure) {
      failures.push(exitCodeOf(failure));
      const result = failures.at(-1) === EXIT.unknown ? 'unknown' : 'refused';
      results.push({ ...line, result, status: row.status, remark: explain(failure) });
    }
  }
  ops.output.list(results, '', { isWhole: true });
  const count = `${failures.length} of ${counted(rows.length, kind.noun)}`;
  if (failures.includes(EXIT.unknown))
    throw new UnknownOutcome(
      `${count} may not have been decided: repeat the command, which decides each only once`,
    );
  if (failures.length > 0)
    throw new OpsError(`${count} could not be decided: the list has the reasons`);
}

interface Performed<Row> {
  readonly row: Row;
  /** Null if nothing is remarkable about the result. */
  readonly remark: string | null;
}

/** Returns the decided row, and what is remarkable about it. Throws the refusal or UnknownOutcome. */
async function perform<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
  ops: AuthorisedOps,
  row: Row,
  action: ApprovalAction,
  reason: string,
): Promise<Performed<Row>> {
  const repeated = await readPerformed(kind, ops, row, action);
  if (repeated !== undefined) return repeated;
  const service = new Approvals(kind.approval, { ...ops, notifier: NO_NOTIFIER });
  const result = await service.performByStaff(row, action, await ops.by(), reason);
  const { outcome } = result;
  if (!outcome.done && outcome.refusal.code === 'invalid_state') {
    // Performed at the same time, for example by a command whose result is unknown.
    const concurrent = await readPerformed(kind, ops, row, action);
    if (concurrent !== undefined) return concurrent;
    const { refusal } = outcome;
    const ended = await endedText(kind, ops, row.id);
    const message = refusal.message.replace(/^it is (?:rejected|canceled)/, (is) => ended ?? is);
    throw new ApiError({ ...refusal, message });
  }
  const done = doneBy(result, `${kind.noun}s show ${row.id}`);
  // A rule may still refuse the last approval.
  const isRefused = action === 'approve' && done.status === 'rejected';
  const why = done.rejectionReason ?? 'a rule refused it';
  return {
    row: done,
    remark: isRefused ? `Its last approval could not complete it: ${why}` : null,
  };
}

/** Returns by whom and when the resource was rejected or canceled. Null if it expired. */
async function endedText<Row extends Transfer | Payout>(
  { noun }: OperationCommands<Row>,
  { database: { reader } }: Ops,
  id: Row['id'],
): Promise<string | null> {
  const last = await findLastAction(reader, id, [`${noun}.reject`, `${noun}.cancel`]);
  const verb = last?.action.endsWith('.reject') === true ? 'rejected' : 'canceled';
  return last && `it was ${verb} by ${last.by} at ${last.at}`;
}

/** Returns the row as it is now, with a remark, if the action was performed before, otherwise undefined. */
async function readPerformed<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
  ops: Ops,
  { id: resourceId }: Row,
  action: ApprovalAction,
): Promise<Performed<Row> | undefined> {
  const { reader } = ops.database;
  const now = await reader.find(kind.list.table, { id: resourceId } as Where<Row>);
  const isPerformed =
    action === 'approve'
      ? (await reader.find(approvals, { resourceId, approver: SUPPORT })) !== undefined
      : (now?.rejectionCode ?? now?.status) === (action === 'reject' ? 'rejected' : 'canceled');
  if (now === undefined || !isPerformed) return undefined;
  const isPending = now.status === PENDING_APPROVAL;
  const why = isPending
    ? 'support has approved it already'
    : ((await endedText(kind, ops, resourceId)) ?? `it is ${now.status}`);
  return { row: now, remark: `Nothing was changed, because this was done: ${why}` };
}

/** Returns the resource, or throws the refusal. `check` is the command that shows what happened. */
export function doneBy<Row>({ outcome }: CommandResult<Row>, check: string): Row {
  if (outcome.done) return outcome.resource;
  if (outcome.refusal.code !== 'ledger_unavailable') throw new ApiError(outcome.refusal);
  throw new UnknownOutcome(
    `the ledger did not answer, so it may or may not have happened; check before you repeat it: ${PROGRAM} ${check}`,
  );
}

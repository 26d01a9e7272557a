import { z } from 'zod';
import { listNewest, type OperationList } from '../../accounts/operation-list.js';
import type { ApprovalAction } from '../../approvals/rules.js';
import type { Approvals } from '../../approvals/service.js';
import { checkedText, MAX_REASON } from '../../core/checked-text.js';
import { ApiError, type Refusal } from '../../core/errors.js';
import type { Payout } from '../../db/entities/payouts.js';
import type { Transfer } from '../../db/entities/operations.js';
import { command, type CommandDefinition, type Ops, query } from '../command.js';
import { UnknownOutcome } from '../failures.js';
import { findAccount, findTenant } from '../finding.js';
import { limit, option, optional, status, tenant, text } from '../inputs.js';
import type { Fields } from '../output.js';
import { PROGRAM } from '../help.js';

export interface OperationCommands<Row extends Transfer | Payout> {
  readonly noun: Row extends Payout ? 'payout' : 'transfer';
  readonly list: OperationList<Row>;
  readonly examples: readonly [string, ...string[]];
  readonly present: (ops: Ops, rows: readonly Row[]) => Promise<readonly Fields[]>;
  readonly find: (ops: Ops, id: string) => Promise<Row>;
  readonly show: (ops: Ops, row: Row) => Promise<void>;
  /** Returns the question asked before the action; null for none. */
  readonly question: (ops: Ops, action: ApprovalAction, row: Row) => Promise<string | null>;
  /**
   * The worker's sweeper notifies the workflow within seconds, because this process is not
   * connected to Temporal.
   */
  readonly approvals: (ops: Ops) => Approvals<Row>;
}

export const EXAMPLE_ID = '01a1feef-38a9-7169-8296-3070b51f3af4';

export function operationListCommand<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
): CommandDefinition {
  const { noun, list, examples, present } = kind;
  return query({
    usage: 'list',
    summary: `a tenant's ${noun}s, newest first`,
    examples,
    input: z.object({
      tenant,
      status: status(list.statuses),
      account: optional('<account>', 'only those that leave this account: id, alias or phone'),
      limit,
    }),
    run: async (ops, { tenant, status, account, limit: most }) => {
      const { reader } = ops.database;
      const { id: tenantId } = await findTenant(reader, tenant);
      const source =
        account === undefined
          ? undefined
          : await findAccount(reader, { account, tenant: tenantId });
      const found = await listNewest(
        list,
        reader,
        { tenantId, status, sourceAccountId: source?.id },
        most,
      );
      ops.output.newest(await present(ops, found), most, 'No results.', [
        'expires_at',
        'rail',
        'rail_reference',
      ]);
    },
  });
}

/**
 * Commands of support for a waiting resource. `until`: the last status in which it can be canceled.
 */
export function approvalActCommands<Row extends Transfer | Payout>(
  kind: OperationCommands<Row>,
  until = '',
): readonly CommandDefinition[] {
  return [
    actCommand(kind, 'approve', "record support's approval; all staff count as one approver"),
    actCommand(kind, 'reject', `end a ${kind.noun} that waits: nothing leaves the account`),
    actCommand(kind, 'cancel', `end it because its requester no longer wants it${until}`),
  ];
}

function actCommand<Row extends Transfer | Payout>(
  { noun, find, show, question, approvals }: OperationCommands<Row>,
  action: ApprovalAction,
  summary: string,
): CommandDefinition {
  return command({
    usage: `${action} <id>`,
    summary,
    examples: [`${noun}s ${action} ${EXAMPLE_ID} --reason 'asked for in ticket 118'`],
    input: z.object({
      id: text,
      reason: option(
        '<text>',
        `why, up to ${MAX_REASON} characters; the tenant can read it for a rejection`,
      ),
    }),
    needs: `${noun}.${action}`,
    subject: ({ id }) => id,
    run: async (ops, { id, reason: given }) => {
      const reason = checkedText('reason', given, MAX_REASON);
      const row = await find(ops, id);
      const asked = await question(ops, action, row);
      if (asked !== null) await ops.output.confirm(asked);
      const { outcome } = await approvals(ops).actByStaff(row, action, ops.by(), reason);
      if (!outcome.done) throw failureOf(outcome.refusal, `${noun}s show ${id}`);
      await show(ops, outcome.resource);
      const { status, rejectionReason } = outcome.resource;
      // A rule may still refuse the last approval.
      if (action === 'approve' && status === 'rejected')
        ops.output.say(
          `Its last approval could not complete it: ${rejectionReason ?? 'a rule refused it'}.`,
        );
    },
  });
}

export const VERBS: Readonly<Record<ApprovalAction, string>> = {
  approve: 'Approve',
  reject: 'Reject',
  cancel: 'Cancel',
};

function failureOf(refusal: Refusal, look: string): Error {
  if (refusal.code === 'ledger_unavailable')
    return new UnknownOutcome(
      `the ledger did not answer, so it may or may not have happened; check before you repeat it: ${PROGRAM} ${look}`,
    );
  return new ApiError(refusal);
}

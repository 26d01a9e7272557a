import type { Command } from 'commander';
import { z } from 'zod';
import { ApiError, type Refusal } from '../../core/errors.js';
import { formatAmount } from '../../core/amount.js';
import { checkedText, MAX_REASON } from '../../core/checked-text.js';
import type { ApprovalAction } from '../../approvals/rules.js';
import { type Transfer, TRANSFER_STATUSES } from '../../db/entities/operations.js';
import { TransferApprovals } from '../../transfers/approvals.js';
import { addCommand, addQuery, group, type Ops } from '../command.js';
import { UnknownOutcome } from '../failures.js';
import { findAccount, findTenant, findTransfer } from '../finding.js';
import { limit, optionalText, text } from '../inputs.js';
import { transferDetailFields, transferFields } from '../presenting.js';
import { listNewest } from '../../accounts/operation-list.js';
import { transferList } from '../../transfers/reading.js';
import { readNames, readTransferDetails } from '../../support/reading/transfers.js';
import { PROGRAM } from '../program-name.js';

export function addTransferCommands(program: Command): void {
  const own = group(program, 'transfers', 'find a transfer, see what it waits for, and decide it for support');
  addReading(own);
  addAct(own, 'approve', 'give one approval for support, which counts once whoever of the staff gives it');
  addAct(own, 'reject', 'end a transfer that waits: nothing leaves the account');
  addAct(own, 'cancel', 'the same, because whoever asked for it no longer wants it');
}

function addReading(own: Command): void {
  addQuery(own, {
    usage: 'list',
    summary: "a tenant's transfers, newest first",
    options: [
      ['--tenant <tenant>', 'id or name of the tenant'],
      ['--status <status>', `only those ${TRANSFER_STATUSES.join(', ')}`],
      ['--account <account>', 'only those that leave this account: id, alias or phone'],
      ['--limit <count>', 'how many at most (default: 100)'],
    ],
    examples: [
      'transfers list --tenant acme --status pending_approval',
      "transfers list --tenant acme --account '$acme-guarded' --limit 20 --json",
    ],
    input: z.object({
      tenant: text,
      status: z.enum(TRANSFER_STATUSES, { error: `must be one of ${TRANSFER_STATUSES.join(', ')}` }).optional(),
      account: optionalText,
      limit,
    }),
    run: async ({ database: { reader }, output }, { tenant, status, account, limit: most }) => {
      const { id: tenantId } = await findTenant(reader, tenant);
      const source = account === undefined ? undefined : await findAccount(reader, { account, tenant: tenantId });
      const found = await listNewest(transferList, reader, { tenantId, status, sourceAccountId: source?.id }, most);
      const names = await readNames(
        reader,
        found.flatMap((transfer) => [transfer.sourceAccountId, transfer.destinationAccountId]),
      );
      output.list(
        found.map((transfer) => transferFields(transfer, names)),
        'There are none.',
      );
      if (found.length === most) output.say(`The newest ${most}; --limit shows more.`);
    },
  });
  addQuery(own, {
    usage: 'show <id>',
    summary: 'one transfer: its parties, who approved it, what it waits for, and its workflow',
    options: [],
    examples: ['transfers show 01a1feef-38a9-7169-8296-3070b51f3af4'],
    input: z.object({ id: text }),
    run: async (ops, { id }) => {
      await show(ops, await findTransfer(ops.database.reader, id));
      ops.output.say(`What was done to it, and what was refused: ${PROGRAM} audit-log --subject ${id}`);
    },
  });
}

function addAct(own: Command, action: ApprovalAction, summary: string): void {
  addCommand(own, {
    usage: `${action} <id>`,
    summary,
    options: [['--reason <text>', `why, up to ${MAX_REASON} characters; who rejects says it to the tenant`]],
    examples: [`transfers ${action} 01a1feef-38a9-7169-8296-3070b51f3af4 --reason 'asked for in ticket 118'`],
    input: z.object({ id: text, reason: text }),
    needs: `transfer.${action}`,
    subject: ({ id }) => id,
    run: async (ops, { id, reason: given }) => {
      const reason = checkedText('reason', given, MAX_REASON);
      const transfer = await findTransfer(ops.database.reader, id);
      if (transfer.status === 'pending_approval') await confirm(ops, action, transfer);
      const { outcome } = await approvalsOf(ops).actByStaff(transfer, action, ops.by(), reason);
      if (!outcome.done) throw failureOf(outcome.refusal, id);
      await show(ops, outcome.resource);
      if (action === 'approve') tell(ops, outcome.resource);
    },
  });
}

/** The worker's sweeper tells the workflow, within seconds: this process has no way to Temporal. */
function approvalsOf({ desk, database, clock }: Ops): TransferApprovals {
  return new TransferApprovals(desk, database.reader, clock, { tell: () => undefined });
}

async function show({ database: { reader }, clock, output }: Ops, transfer: Transfer): Promise<void> {
  output.one(transferDetailFields(await readTransferDetails(reader, transfer, clock())));
}

const VERBS: Readonly<Record<ApprovalAction, string>> = { approve: 'Approve', reject: 'Reject', cancel: 'Cancel' };

async function confirm({ database, output }: Ops, action: ApprovalAction, transfer: Transfer): Promise<void> {
  const { sourceAccountId: from, destinationAccountId: to } = transfer;
  const names = await readNames(database.reader, [from, to]);
  const what = `the transfer of ${formatAmount(transfer)} from ${names.get(from) ?? from} to ${names.get(to) ?? to}`;
  await output.confirm(`${VERBS[action]} ${what}`);
}

function failureOf(refusal: Refusal, id: string): Error {
  if (refusal.code === 'ledger_unavailable')
    return new UnknownOutcome(
      `the ledger did not answer, so it may have happened or not: look first: ${PROGRAM} transfers show ${id}`,
    );
  return new ApiError(refusal);
}

/** An approval may be the last, and meet a rule then. */
function tell({ output }: Ops, { status, rejectionReason }: Transfer): void {
  if (status === 'rejected')
    output.say(`Its last approval could not complete it: ${rejectionReason ?? 'a rule refused it'}.`);
}

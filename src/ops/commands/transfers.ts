import { z } from 'zod';
import { Approvals } from '../../approvals/service.js';
import { formatAmount } from '../../core/amount.js';
import type { Transfer } from '../../db/entities/operations.js';
import { readNames, readTransferDetails } from '../../support/reading/transfers.js';
import { transferApproval } from '../../transfers/approval-outcomes.js';
import { transferList } from '../../transfers/reading.js';
import { group, query } from '../command.js';
import { findTransfer } from '../finding.js';
import { text } from '../inputs.js';
import { PROGRAM } from '../help.js';
import {
  approvalActCommands,
  operationListCommand,
  EXAMPLE_ID,
  type OperationCommands,
  VERBS,
} from './operations.js';
import { transferDetailFields, transferFields } from '../presenting-operations.js';

const TRANSFERS: OperationCommands<Transfer> = {
  noun: 'transfer',
  list: transferList,
  examples: [
    'transfers list --tenant acme --status pending_approval',
    "transfers list --tenant acme --account '$acme-guarded' --limit 20 --json",
  ],
  present: async ({ database }, found) => {
    const ids = found.flatMap((transfer) => [
      transfer.sourceAccountId,
      transfer.destinationAccountId,
    ]);
    const names = await readNames(database.reader, ids);
    return found.map((transfer) => transferFields(transfer, names));
  },
  find: ({ database }, id) => findTransfer(database.reader, id),
  show: async ({ database: { reader }, clock, output }, transfer) =>
    output.one(transferDetailFields(await readTransferDetails(reader, transfer, clock()))),
  question: async ({ database }, action, transfer) => {
    if (transfer.status !== 'pending_approval') return null;
    const { sourceAccountId: from, destinationAccountId: to } = transfer;
    const names = await readNames(database.reader, [from, to]);
    const what = `the transfer of ${formatAmount(transfer)} from ${names.get(from) ?? from} to ${names.get(to) ?? to}`;
    return `${VERBS[action]} ${what}`;
  },
  approvals: ({ desk, database, clock }) =>
    new Approvals(transferApproval, desk, database.reader, clock, { notify: () => undefined }),
};

export const transferCommands = group(
  'transfers',
  'find a transfer, see what it waits for, and decide it for support',
  [
    operationListCommand(TRANSFERS),
    query({
      usage: 'show <id>',
      summary: 'one transfer: its parties, who approved it, what it waits for, and its workflow',
      examples: [`transfers show ${EXAMPLE_ID}`],
      input: z.object({ id: text }),
      run: async (ops, { id }) => {
        await TRANSFERS.show(ops, await TRANSFERS.find(ops, id));
        ops.output.say(`Its actions and refusals: ${PROGRAM} audit-log --subject ${id}`);
      },
    }),
    ...approvalActCommands(TRANSFERS),
  ],
);

import { spawn } from 'node:child_process';
import { batchPath, batchType } from '../../batches/rules.js';
import { BATCH_KINDS } from '../../db/entities/batches.js';
import { events } from '../../db/entities/events.js';
import { approvalProgress } from '../../approvals/rules.js';
import { workflowUrlOf } from '../../config/servers.js';
import { parseUuid, type Uuid } from '../../core/ids.js';
import { findByText } from '../../support/reading/search.js';
import { WORKFLOW_ID_OF } from '../../temporal/contracts.js';
import { query } from '../command.js';
import { OpsError } from '../failures.js';
import { text } from '../inputs.js';

export const openCommand = query({
  summary:
    "open a resource's page of the support desk, and print its addresses there and in Temporal's UI",
  explanation: `
RESOURCE is the id of anything that has a page at the support desk: a tenant, account, transfer, bonus, payout, batch, schedule,
adjustment, webhook endpoint or event. The id of an event, pay-in or posting also opens what it is about. RESOURCE may also be the
name of a tenant, an alias, a phone, an Idempotency-Key or an operator's reference, in any tenant.
SUPPORT_URL and SUPPORT_TEMPORAL_UI_URL must be set as for the support desk. Only what waits has a workflow. The browser opens
if one resource is found and standard output is a terminal.`,
  examples: ['open 0197f2c4-7a52-7c3e-9f0a-3c5d1b2a4e6f', "open '$ana'", 'open case-118 --json'],
  input: { resource: text },
  run: async ({ database, clock, config, output }, { resource }) => {
    const { reader } = database;
    const found = await findByText(reader, resource, clock());
    const id = parseUuid(resource);
    const event = id === null ? undefined : await reader.find(events, { id });
    const urlOf = workflowUrlOf(config);
    const rows = (
      path: string,
      own: readonly { readonly id: Uuid; readonly status?: string }[],
      workflowIdOf?: (id: Uuid) => string,
    ) =>
      own.map(({ id, status = null }) => ({
        desk: `${config.SUPPORT_URL.replace(/\/+$/, '')}/${path}/${id}`,
        status,
        temporal: (workflowIdOf && urlOf?.(workflowIdOf(id))) ?? null,
      }));
    const waited = found.transfers.filter((transfer) => approvalProgress(transfer) !== null);
    const direct = found.transfers.filter((transfer) => !waited.includes(transfer));
    const all = [
      ...rows('transfers', waited, WORKFLOW_ID_OF.transfer),
      ...rows('transfers', direct),
      ...rows('schedules', found.schedules, WORKFLOW_ID_OF.schedule),
      ...rows('payouts', found.payouts, WORKFLOW_ID_OF.payout),
      ...BATCH_KINDS.flatMap((kind) =>
        rows(
          batchPath(kind),
          found.batches.filter((batch) => batch.kind === kind),
          WORKFLOW_ID_OF[batchType({ kind })],
        ),
      ),
      ...rows('endpoints', found.endpoints, WORKFLOW_ID_OF.webhook_endpoint),
      ...rows('adjustments', found.adjustments),
      ...rows('bonuses', found.bonuses),
      ...rows('accounts', found.accounts),
      ...rows('tenants', found.tenants),
      ...rows('events', event === undefined ? [] : [event]),
    ];
    if (all.length === 0)
      throw new OpsError(
        `nothing has the id, alias, phone, Idempotency-Key or reference "${resource}"`,
      );
    output.list(all, '');
    const [only, ...others] = all;
    if (only !== undefined && others.length === 0 && output.isOnTerminal) openInBrowser(only.desk);
  },
});

const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer' };

/** Opens the address in a browser, if this machine has one. */
function openInBrowser(address: string): void {
  const opener = OPENERS[process.platform] ?? 'xdg-open';
  // The address is printed in any case.
  spawn(opener, [address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

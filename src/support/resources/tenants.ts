import type { Uuid } from '../../core/ids.js';
import type { Reader } from '../../db/database.js';
import { TRANSFER_STATUSES, transfers } from '../../db/entities/operations.js';
import { BATCH_STATUSES, bonusBatches } from '../../db/entities/bonuses.js';
import { accounts, type Tenant, tenants } from '../../db/entities/parties.js';
import { PAYOUT_STATUSES, payouts } from '../../db/entities/payouts.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { string } from '../../db/columns.js';
import { columnList, literal } from '../../db/statements.js';
import { parseRow, type Table } from '../../db/table.js';
import { listAccounts } from '../../accounts/directory.js';
import type { Content } from '../html.js';
import { idText, section, time } from '../pages/layout.js';
import { tableOf } from '../pages/rows.js';
import { totalsSection } from '../pages/totals.js';
import type { Rows } from '../reading/search.js';
import { readStaffActions } from '../reading/timeline.js';
import { readTotals } from '../reading/totals.js';
import type { ResourceKind } from './resource-kind.js';

const SHOWN = 10;

export const tenantKind: ResourceKind<Tenant> = {
  name: 'tenants',
  actions: [],
  find: ({ database: { reader } }, id) => reader.find(tenants, { id }),
  subjectOf: ({ id }) => ({ id, tenantId: id, subjectType: 'tenant' }),
  async show({ database: { reader }, clock }, { id, name, network, timeZone, createdAt }) {
    const now = clock();
    const listOf = async <K extends keyof Rows>(
      kind: K,
      heading: string,
      rows: readonly Rows[K][],
    ): Promise<Content> =>
      rows.length > 0 && section(kind, heading, await tableOf(reader, now, kind, heading, rows));
    const [totals, ofTransfers, ofPayouts, batches, own, endpoints, timeline] = await Promise.all([
      readTotals(reader, [id], now),
      newestOf(reader, transfers, TRANSFER_STATUSES, id),
      newestOf(reader, payouts, PAYOUT_STATUSES, id),
      newestOf(reader, bonusBatches, BATCH_STATUSES, id),
      listAccounts(reader, id, SHOWN),
      reader.list(
        webhookEndpoints,
        `FORCE INDEX (tenant) WHERE tenant_id=${literal(webhookEndpoints, 'tenantId', id)}
         AND status<>'deleted' ORDER BY created_at DESC, id DESC LIMIT ${SHOWN}`,
      ),
      readStaffActions(reader, id, timeZone),
    ]);
    return {
      title: name,
      status: '',
      facts: [
        ['Time zone', timeZone],
        ['Network', network ?? 'none'],
        ['Opened', time(createdAt, timeZone)],
        ['Id', idText(id)],
      ],
      more: [
        totalsSection(totals),
        await listOf('transfers', 'Newest transfers', ofTransfers),
        await listOf('payouts', 'Newest payouts', ofPayouts),
        await listOf('batches', 'Newest batches', batches),
        await listOf('endpoints', 'Webhook endpoints', endpoints),
        await listOf('accounts', 'Newest accounts', own),
      ],
      timeline: timeline.length === 0 ? null : timeline,
      timeZone,
      workflow: null,
    };
  },
};

/** Returns the tenant's newest rows of a table whose index `status` has them by status and time. */
async function newestOf<Row extends { readonly id: Uuid }>(
  reader: Reader,
  table: Table<Row>,
  statuses: readonly string[],
  tenantId: Uuid,
): Promise<readonly Row[]> {
  const parts = statuses.map(
    (status) =>
      `(SELECT ${columnList(table)} FROM ${table.name} FORCE INDEX (status)
        WHERE tenant_id=${literal(accounts, 'tenantId', tenantId)} AND status=${string.literal(status)}
        ORDER BY created_at DESC, id DESC LIMIT ${SHOWN})`,
  );
  const rows = await reader.query(
    `${parts.join(' UNION ALL ')} ORDER BY created_at DESC, id DESC LIMIT ${SHOWN}`,
  );
  return rows.map((row) => parseRow(table, row));
}

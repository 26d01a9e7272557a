import { listAccounts } from '../../accounts/directory.js';
import { listNewest } from '../../accounts/operation-list.js';
import { batchList } from '../../batches/read-batches.js';
import { type Tenant, tenants } from '../../db/entities/parties.js';
import { webhookEndpoints } from '../../db/entities/webhooks.js';
import { literal } from '../../db/statements.js';
import { payoutList } from '../../payouts/service.js';
import { transferList } from '../../transfers/service.js';
import type { Content } from '../html.js';
import { section } from '../pages/layout.js';
import { tableOf } from '../pages/rows.js';
import { totalsSection } from '../pages/totals.js';
import type { Rows } from '../reading/search.js';
import { readTotals } from '../reading/totals.js';
import type { ResourceKind } from './resource-kind.js';

const SHOWN = 10;

export const tenantKind: ResourceKind<Tenant> = {
  name: 'tenants',
  subjectType: 'tenant',
  actions: [],
  find: ({ database: { reader } }, id) => reader.find(tenants, { id }),
  rowOf: ({ id }) => ({ id, tenantId: id }),
  async describe({ id, name, network, createdAt }, { reader, now, timeZone, time }) {
    const listOf = async <K extends keyof Rows>(
      kind: K,
      heading: string,
      rows: readonly Rows[K][],
    ): Promise<Content> =>
      rows.length > 0 && section(kind, heading, await tableOf(reader, now, kind, heading, rows));
    const [totals, ofTransfers, ofPayouts, batches, own, endpoints] = await Promise.all([
      readTotals(reader, [id], now),
      listNewest(transferList, reader, { tenantId: id }, SHOWN),
      listNewest(payoutList, reader, { tenantId: id }, SHOWN),
      listNewest(batchList, reader, { tenantId: id }, SHOWN),
      listAccounts(reader, id, SHOWN),
      reader.list(
        webhookEndpoints,
        `FORCE INDEX (tenant) WHERE tenant_id=${literal(webhookEndpoints, 'tenantId', id)}
         AND status<>'deleted' ORDER BY created_at DESC, id DESC LIMIT ${SHOWN}`,
      ),
    ]);
    return {
      title: name,
      status: '',
      facts: [
        ['Time zone', timeZone],
        ['Network', network ?? 'none'],
        ['Opened', time(createdAt)],
      ],
      before: [
        totalsSection(totals),
        await listOf('transfers', 'Newest transfers', ofTransfers),
        await listOf('payouts', 'Newest payouts', ofPayouts),
        await listOf('batches', 'Newest batches', batches),
        await listOf('endpoints', 'Webhook endpoints', endpoints),
        await listOf('accounts', 'Newest accounts', own),
      ],
      hidesEmptyTimeline: true,
    };
  },
};

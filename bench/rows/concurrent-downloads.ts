import { operatorActor } from '../../src/access/audit-log.js';
import { addMember } from '../../src/members/members.js';
import { addTenant, DEFAULT_TIME_ZONE } from '../../src/accounts/tenants.js';
import { issueToken } from '../../src/members/tokens.js';
import { openAccount } from '../../src/accounts/open-accounts.js';
import { systemClock } from '../../src/core/instant.js';
import { SCOPES } from '../../src/core/permissions.js';
import type { Bench } from '../bench.js';
import { withDatabase } from '../ledgers/database.js';
import type { Ledger } from '../ledgers/ledger.js';
import type { Latency } from '../load/job.js';
import type { ApiProcess } from '../service/api-process.js';

const PER_SECOND = 100;
const CONNECTIONS = 16;

interface DownloadResult {
  readonly before: Latency;
  readonly during: Latency;
  /** From the start until each client has downloaded the file once. */
  readonly seconds: number;
  /** Number of downloads while the reads were measured; each client downloads repeatedly. */
  readonly downloads: number;
  readonly peakMbBefore: number | null;
}

/**
 * Lets `count` clients download a file repeatedly, and measures another tenant's reads, at a steady rate, before and
 * during these downloads.
 */
export async function measureDownloads(
  bench: Bench,
  api: ApiProcess,
  ledger: Ledger,
  download: () => Promise<unknown>,
  count: number,
): Promise<DownloadResult> {
  const { token, accountId } = await otherTenant(ledger);
  const list = [{ path: `/v1/accounts/${accountId}/balances` }];
  const read = async (): Promise<Latency> => {
    const { load } = await bench.run(
      api,
      { ...ledger, token },
      {
        connections: CONNECTIONS,
        perSecond: PER_SECOND,
        expectedStatus: 200,
        requests: { kind: 'listed', list, order: 'random' },
      },
    );
    return load.latency;
  };
  const before = await read();
  const peakMbBefore = api.peakMb();
  let [isOver, downloads, seconds] = [false, 0, 0];
  const startedAt = performance.now();
  const clients = Array.from({ length: count }, async () => {
    await download();
    seconds = (performance.now() - startedAt) / 1000;
    for (downloads += 1; !isOver; downloads += 1) await download();
  });
  const during = await read().finally(() => (isOver = true));
  await Promise.all(clients);
  return { before, during, seconds, downloads, peakMbBefore };
}

async function otherTenant({
  url,
}: Ledger): Promise<{ readonly token: string; readonly accountId: string }> {
  const actor = operatorActor('bench');
  return withDatabase(url, async (database) => {
    const tenant = { name: 'another', network: null, timeZone: DEFAULT_TIME_ZONE };
    const { id: tenantId } = await addTenant(database, systemClock, tenant, actor);
    const member = await addMember(database, systemClock, tenantId, 'another', actor);
    const grants = [{ memberId: member.id, role: 'owner' as const }];
    const account = {
      tenantId,
      type: 'business' as const,
      name: 'Another',
      alias: null,
      phone: null,
      grants,
    };
    const { id: accountId } = await openAccount({ database, clock: systemClock }, account, actor);
    const scopes = { name: 'bench', scopes: SCOPES, expiresAt: null, cidrs: [] };
    return {
      accountId,
      token: (await issueToken(database, systemClock, member, scopes, actor)).text,
    };
  });
}

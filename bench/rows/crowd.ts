import { operatorActor } from '../../src/access/audit-log.js';
import { addMember } from '../../src/access/members.js';
import { addTenant, DEFAULT_TIME_ZONE } from '../../src/access/tenants.js';
import { issueToken } from '../../src/access/tokens.js';
import { openAccount } from '../../src/accounts/opening.js';
import { systemClock } from '../../src/core/instant.js';
import { SCOPES } from '../../src/core/permissions.js';
import type { Bench } from '../bench.js';
import { withDatabase } from '../ledgers/database.js';
import type { Ledger } from '../ledgers/ledger.js';
import type { Latency } from '../load/job.js';
import type { ApiProcess } from '../service/api-process.js';

/** Another tenant's reads at a steady rate, before and while many clients of the first download a file. */

const PER_SECOND = 100;
const CONNECTIONS = 16;

interface Crowd {
  readonly quiet: Latency;
  readonly beside: Latency;
  /** Until the last of the clients had its first file. */
  readonly seconds: number;
  /** While the reads were measured and warmed up; each client begins anew when it has the file. */
  readonly downloads: number;
  readonly peakMbBefore: number | null;
}

export async function downloadByMany(
  bench: Bench,
  api: ApiProcess,
  ledger: Ledger,
  download: () => Promise<unknown>,
  many: number,
): Promise<Crowd> {
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
  const quiet = await read();
  const peakMbBefore = api.peakMb();
  let [isOver, downloads, seconds] = [false, 0, 0];
  const began = performance.now();
  const clients = Array.from({ length: many }, async () => {
    await download();
    seconds = (performance.now() - began) / 1000;
    for (downloads += 1; !isOver; downloads += 1) await download();
  });
  const beside = await read().finally(() => (isOver = true));
  await Promise.all(clients);
  return { quiet, beside, seconds, downloads, peakMbBefore };
}

async function otherTenant({
  url,
}: Ledger): Promise<{ readonly token: string; readonly accountId: string }> {
  const actor = operatorActor('bench');
  return withDatabase(url, async (database) => {
    const wanted = { name: 'another', network: null, timeZone: DEFAULT_TIME_ZONE };
    const { id: tenantId } = await addTenant(database, systemClock, wanted, actor);
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
    const { id: accountId } = await openAccount(database, systemClock, account, actor);
    const scopes = { name: 'bench', scopes: SCOPES, expiresAt: null, cidrs: [] };
    return {
      accountId,
      token: (await issueToken(database, systemClock, member, scopes, actor)).text,
    };
  });
}

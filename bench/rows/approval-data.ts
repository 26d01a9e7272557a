import { randomUUID } from 'node:crypto';
import { operatorActor } from '../../src/access/audit-log.js';
import { addMember } from '../../src/members/members.js';
import { grantRoleEverywhere } from '../../src/members/roles.js';
import { issueToken } from '../../src/members/tokens.js';
import { systemClock } from '../../src/core/instant.js';
import type { Uuid } from '../../src/core/ids.js';
import { NO_PENDING_POLICY } from '../../src/approvals/policy-rules.js';
import { approvalPolicies } from '../../src/db/entities/approvals.js';
import { upsertSql } from '../../src/db/statements.js';
import { transact } from '../../src/db/reader.js';
import { withDatabase } from '../ledgers/database.js';
import { UNIT_RAW } from '../ledgers/history.js';
import type { Ledger } from '../ledgers/ledger.js';
import type { ListedRequest } from '../load/job.js';
import { transferBody } from '../load/request-source.js';
import type { Parties } from './transfers.js';

/** Additions to a ledger for rows about approvals. */

const SOURCES = 100;

/** Each account either sends or receives. */
export function approvalParties({ accountIds }: Ledger): Parties {
  return { sources: accountIds.slice(0, SOURCES), destinations: accountIds.slice(SOURCES) };
}

/**
 * Makes every transfer from these accounts, from the smallest amount on, need one approval within this many seconds.
 */
export async function setPolicies(
  { url }: Ledger,
  sources: readonly Uuid[],
  expiresInS: number,
): Promise<void> {
  const rows = sources.map((accountId) => ({
    accountId,
    asset: 'COPM' as const,
    threshold: UNIT_RAW,
    approvals: 1,
    expiresInS,
    refusesBatches: false,
    ...NO_PENDING_POLICY,
  }));
  await withDatabase(url, (database) =>
    transact(database, (transaction) =>
      transaction.execute(
        upsertSql(approvalPolicies, rows, ['threshold', 'approvals', 'expiresInS']),
      ),
    ),
  );
}

/** The token of a member who did not create the transfers and may approve them. */
export function approverToken({ url, tenantId }: Ledger): Promise<string> {
  const actor = operatorActor('bench');
  return withDatabase(url, async (database) => {
    const member = await addMember(database, systemClock, tenantId, 'bench approver', actor);
    await grantRoleEverywhere(database, systemClock, member, 'approver', actor);
    const tokenRequest = {
      name: 'bench',
      scopes: ['transfers'] as const,
      expiresAt: null,
      cidrs: [],
    };
    return (await issueToken(database, systemClock, member, tokenRequest, actor)).text;
  });
}

/** Requests for this many transfers, sources taking turns, each to the destination at its index. */
export function transferList({ sources, destinations }: Parties, count: number): ListedRequest[] {
  return Array.from({ length: count }, (_, index): ListedRequest => {
    const source = sources[index % sources.length] ?? '';
    const destination = destinations[(index + 1) % destinations.length] ?? '';
    const body = transferBody(source, destination, UNIT_RAW.toString(), 'COPM');
    return { path: '/v1/transfers', post: { key: randomUUID(), body } };
  });
}

import assert from 'node:assert/strict';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { LEAST, openBank } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { PrivateTemporal } from '../helpers/private-temporal.js';
import { serving, temporalEnvironment, until } from '../helpers/temporal.js';
import { startTestWorker } from '../helpers/temporal-worker.js';
import { withCleanup } from '../helpers/with-cleanup.js';
import { WaitingClients } from './waiting-clients.js';

interface TemporalAway {
  readonly db: TestDatabase;
  readonly awayMs: number;
  readonly clients: number;
}

/**
 * Temporal is killed, stays away, and comes back on its data. Meanwhile instant transfers never fail, new ones may begin to
 * wait, and what is decided or over is settled; afterwards every workflow catches up by itself.
 */
export function temporalAway({ db, awayMs, clients }: TemporalAway): Promise<string> {
  return withCleanup(async (open) => {
    const server = await open(PrivateTemporal.start(), (own) => own.remove());
    const { temporal } = server;
    const environment = serving('approvals');
    await open(startTestWorker(db, temporal, { environment }), (own) => own.stop());
    const api = await open(startTestApi(db, temporalEnvironment(temporal)), (own) => own.stop());
    const work = await WaitingClients.start({ db, temporal, baseUrl: api.baseUrl }, clients);
    await work.during(until('all is at work', () => work.decided >= clients));
    await server.kill();
    const [before, end] = [work.decided, performance.now() + awayMs];
    const made = await instantTransfers(api, () => performance.now() < end);
    const settled = work.decided - before;
    assert(settled > 0, 'nothing was decided while Temporal was away');
    await server.start();
    const meanwhile = `${made} instant transfers and ${settled} decisions meanwhile`;
    return `Temporal unavailable for ${awayMs} ms, ${meanwhile}, none refused: ${await work.finish()}`;
  });
}

/** Sends one after the other, for as long as it goes on. Returns how many. */
async function instantTransfers(api: TestApi, goesOn: () => boolean): Promise<number> {
  const bank = await openBank(api);
  const funds = { COPM: 10n * LEAST };
  const [one, other] = [await bank.account({ funds }), await bank.account({ funds })];
  let count = 0;
  for (; goesOn(); count += 1) {
    const [from, to] = count % 2 === 0 ? [one, other] : [other, one];
    await bank.sent({ from, to, raw: LEAST });
  }
  return count;
}

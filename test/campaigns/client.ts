import assert from 'node:assert/strict';
import { isApiError, MoneyClient, UnknownResultError } from '../../packages/client/src/index.js';
import type { Uuid } from '../../src/core/ids.js';
import { transfers } from '../../src/db/entities/operations.js';
import { startTestApi } from '../support/api.js';
import { LEAST, openBank } from '../support/bank.js';
import type { TestDatabase } from '../support/database.js';
import { type Fate, isCommit, Proxy } from '../support/proxy.js';
import { assertLedgerSound } from '../support/world.js';
import { randomFrom } from './approval-activities.js';

interface ClientCampaign {
  readonly db: TestDatabase;
  readonly transfers: number;
  readonly width: number;
  /** Of a thousand pieces that a client sends, and of a thousand COMMITs, so many meet a cut connection. */
  readonly cutsPerThousand: number;
  readonly seed: number;
}

const FATES = ['cut_before', 'cut_after', 'cut_racing'] as const satisfies readonly Fate[];
/** Every so many: a transfer that the rules refuse, and a client that has no patience. */
const REFUSED_EVERY = 17;
const HASTY_EVERY = 11;
/** So that a cut COMMIT is soon answered 503. */
const COMMAND_TIMEOUT_MS = 300;

type Told =
  | { readonly is: 'made'; readonly id: string }
  | { readonly is: 'refused' }
  | { readonly is: 'unknown'; readonly key: string };

/**
 * The client as its users have it, while connections to the API break and COMMITs of the ledger do, so that 503 is answered to what
 * has happened. Each transfer is made once, what is said of it is true, and what is said to be unknown is found out by its key.
 */
export async function clientCampaign(campaign: ClientCampaign): Promise<string> {
  const { db, width, cutsPerThousand } = campaign;
  const below = randomFrom(campaign.seed);
  const healthy = await startTestApi(db);
  const ledger = await Proxy.open(db.url);
  const shaky = await startTestApi(
    { url: ledger.through(db.url) },
    { COMMAND_TIMEOUT_MS: COMMAND_TIMEOUT_MS.toString() },
  );
  const wire = await Proxy.open(shaky.baseUrl);
  const bank = await openBank(healthy);
  const [from, to] = [
    await bank.account({ funds: { COPM: 1_000_000n * LEAST } }),
    await bank.account(),
  ];
  const chance = (): Fate =>
    below(1_000) < cutsPerThousand ? FATES[below(FATES.length)]! : 'pass';
  wire.fateOf = chance;
  ledger.fateOf = (data) => (isCommit(data) ? chance() : 'pass');
  let unavailable = 0;
  const counting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status === 503) unavailable += 1;
    return response;
  };
  const { token } = bank;
  const client = new MoneyClient({ baseUrl: wire.through(shaky.baseUrl), token, fetch: counting });
  const bodyOf = (index: number) => ({
    source_account: from.id,
    destination: { type: 'account' as const, account_id: to.id },
    amount: { raw: index % REFUSED_EVERY === 0 ? 1n : LEAST, asset: 'COPM' as const },
    description: `number ${index}`,
  });

  const told = new Map<number, Told>();
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < campaign.transfers) {
      const index = next++;
      const call = client.createTransfer(
        bodyOf(index),
        index % HASTY_EVERY === 0 ? { patienceMs: 0 } : {},
      );
      told.set(index, await call.then(({ id }): Told => ({ is: 'made', id }), toldByError));
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  const cuts = wire.cuts + ledger.cuts;
  await Promise.all([wire.close(), shaky.stop()]);
  await ledger.close();

  const patient = new MoneyClient({ baseUrl: healthy.baseUrl, token });
  let unknown = 0;
  for (const [index, { is, ...one }] of told) {
    if (is !== 'unknown') continue;
    unknown += 1;
    const call = patient.createTransfer(bodyOf(index), {
      idempotencyKey: 'key' in one ? one.key : '',
    });
    told.set(index, await call.then(({ id }): Told => ({ is: 'made', id }), toldByError));
  }
  await assertTold(db, bank.tenant.tenant.id, told);
  await assertLedgerSound(db.database);
  await healthy.stop();
  const refused = Array.from(told.values()).filter(({ is }) => is === 'refused').length;
  return `${told.size} transfers by the client (seed ${campaign.seed}), ${cuts} connections cut, ${unavailable} answers of 503: ${told.size - refused} made once each, ${refused} refused, ${unknown} said to be unknown and found out by their keys; none twice, none reported wrongly`;
}

function toldByError(error: unknown): Told {
  if (error instanceof UnknownResultError && error.idempotencyKey !== null)
    return { is: 'unknown', key: error.idempotencyKey };
  assert.ok(isApiError(error) && error.code === 'below_minimum', String(error));
  assert.equal(error.details.requested, 1n);
  return { is: 'refused' };
}

/** What was told is what the ledger has: one transfer under each description, or none where it was refused. */
async function assertTold(
  db: TestDatabase,
  tenantId: Uuid,
  told: ReadonlyMap<number, Told>,
): Promise<void> {
  const made = await db.database.reader.select(transfers, { tenantId });
  const ids = new Map(made.map(({ id, description }) => [description, id]));
  const expected = [...told].filter(([, { is }]) => is === 'made');
  assert.equal(made.length, expected.length, 'as many transfers as were told');
  for (const [index, one] of told) {
    const id = ids.get(`number ${index}`);
    assert.equal(one.is === 'made' ? one.id : undefined, id, `number ${index}`);
    assert.equal(one.is, index % REFUSED_EVERY === 0 ? 'refused' : 'made');
  }
}

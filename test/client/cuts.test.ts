import assert from 'node:assert/strict';
import { isApiError, MoneyClient, UnknownResultError } from '../../packages/client/src/index.js';
import { transfers } from '../../src/db/entities/operations.js';
import { randomFrom } from '../campaigns/approval-activities.js';
import { startTestApi } from '../helpers/api.js';
import { LEAST, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { type Fate, isCommit, Proxy } from '../helpers/proxy.js';
import { assertLedgerSound } from '../helpers/world.js';

const SEED = 11;
const TRANSFERS = 150;
const WIDTH = 16;
const FATES = ['cut_before', 'cut_after', 'cut_racing'] as const satisfies readonly Fate[];
/** Of a thousand pieces that a client sends, and of a thousand COMMITs, this many meet a cut connection. */
const CUTS_PER_THOUSAND = { pieces: 60, commits: 300 };
/** One call in this many: a transfer that the rules refuse, and a client that has no patience. */
const REFUSED_EVERY = 17;
const HASTY_EVERY = 11;

/** An id, a refusal, or an unknown result with the key under which it can be asked for. */
type Reported = { readonly id: string } | 'refused' | { readonly key: string };

function reportedError(error: unknown): Reported {
  if (error instanceof UnknownResultError && error.idempotencyKey !== null)
    return { key: error.idempotencyKey };
  assert.ok(isApiError(error) && error.code === 'below_minimum', String(error));
  assert.equal(error.details.requested, 1n);
  return 'refused';
}

describe('the client with broken connections and 503 responses', () => {
  it('the client makes each transfer once and reports the right result despite broken connections and 503 responses', async () => {
    const db = await testDatabase();
    const healthy = await startTestApi(db);
    const ledger = await Proxy.open(db.url);
    // A cut COMMIT is soon answered 503.
    const shaky = await startTestApi(
      { url: ledger.through(db.url) },
      { COMMAND_TIMEOUT_MS: '300' },
    );
    const wire = await Proxy.open(shaky.baseUrl);
    const { token, account, tenant } = await openBank(healthy);
    const [from, to] = [await account({ funds: { COPM: 1_000n * LEAST } }), await account()];
    const below = randomFrom(SEED);
    const chance = (perThousand: number): Fate =>
      below(1_000) < perThousand ? FATES[below(FATES.length)]! : 'pass';
    wire.fateOf = () => chance(CUTS_PER_THOUSAND.pieces);
    ledger.fateOf = (data) => (isCommit(data) ? chance(CUTS_PER_THOUSAND.commits) : 'pass');
    const ask = (client: MoneyClient, index: number, options = {}): Promise<Reported> => {
      const body = {
        source_account: from.id,
        destination: { type: 'account' as const, account_id: to.id },
        amount: { raw: index % REFUSED_EVERY === 0 ? 1n : LEAST, asset: 'COPM' as const },
        description: `number ${index}`,
      };
      return client.createTransfer(body, options).then(({ id }) => ({ id }), reportedError);
    };
    const client = new MoneyClient({ baseUrl: wire.through(shaky.baseUrl), token });
    const reported = new Map<number, Reported>();
    const left = Array.from({ length: TRANSFERS }, (_, index) => index).values();
    const work = async (): Promise<void> => {
      for (const index of left)
        reported.set(
          index,
          await ask(client, index, index % HASTY_EVERY === 0 ? { patienceMs: 0 } : {}),
        );
    };
    await Promise.all(Array.from({ length: WIDTH }, work));
    assert(wire.cuts > 0 && ledger.cuts > 0);
    await Promise.all([wire.close(), shaky.stop()]);
    await ledger.close();

    const patient = new MoneyClient({ baseUrl: healthy.baseUrl, token });
    for (const [index, one] of reported)
      if (typeof one === 'object' && 'key' in one)
        reported.set(index, await ask(patient, index, { idempotencyKey: one.key }));
    const made = await db.database.reader.select(transfers, { tenantId: tenant.tenant.id });
    const ids = new Map(made.map(({ id, description }) => [description, id]));
    for (const [index, one] of reported) {
      const id = ids.get(`number ${index}`);
      assert.deepEqual(one, index % REFUSED_EVERY === 0 ? 'refused' : { id });
    }
    assert.equal(made.length, [...reported.values()].filter((one) => one !== 'refused').length);
    await assertLedgerSound(db.database);
    await healthy.stop();
  });
});

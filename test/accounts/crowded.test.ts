import assert from 'node:assert/strict';
import { newId } from '../../src/core/ids.js';
import type { Account } from '../../src/db/entities/parties.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, type Bank, idLiteral, LEAST, openBank } from '../support/bank.js';
import { heldUp, testDatabase } from '../support/database.js';
import { assertLedgerSound } from '../support/world.js';

/** What one token may send at once: many times what a process has connections for. */
const CROWD = 200;
/** Of the process, as it is where nobody says otherwise: an answer within it is a real one. */
const COMMAND_TIMEOUT_MS = '4000';

const declare = (bank: Bank, { id }: Pick<Account, 'id'>) =>
  bank.request('PUT', `/v1/accounts/${id}/verification`, {
    body: {
      ...{ type: 'business', legal_name: 'Crowd SAS', document_type: 'NIT' },
      ...{ document_number: '901234567', country: 'CO' },
    },
  });

/** What is prepared, and then asked while the crowd waits. */
const ASKED: Readonly<Record<string, (bank: Bank) => Promise<() => Promise<unknown>>>> = {
  transfer: async (bank) => {
    const [from, to] = [await bank.account(), await bank.account()];
    await bank.fund(from, { asset: 'COPM', raw: LEAST * 10n });
    return async () => answered(await bank.send({ from, to, raw: LEAST }, { key: newId() }), 201);
  },
  'declared verification': async (bank) => {
    const account = await bank.account();
    return async () => answered(await declare(bank, account), 200);
  },
};

const db = await testDatabase();

describe('a tenant whose requests crowd at one account', () => {
  let api: TestApi;

  before(async () => {
    api = await startTestApi(db, { COMMAND_TIMEOUT_MS });
  });

  for (const [what, ask] of Object.entries(ASKED))
    it(`a tenant whose requests crowd at one account keeps no ${what} of another tenant from being made`, async () => {
      const [crowding, other] = [await openBank(api), await openBank(api)];
      const busy = await crowding.account();
      let ended = 0;
      const one = () => declare(crowding, busy).then(() => (ended += 1));
      const crowd = () => Promise.all(Array.from({ length: CROWD }, one));
      const asked = await ask(other);
      const row = `SELECT id FROM accounts WHERE id=${idLiteral(busy.id)}`;
      await heldUp(db, row, crowd, async () => {
        await asked();
        assert.equal(ended, 0, 'it waited for the crowd');
      });
      await assertLedgerSound(api.core.database);
    });
});

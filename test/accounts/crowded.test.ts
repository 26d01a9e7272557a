import { newId } from '../../src/core/ids.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, idLiteral, LEAST, openBank } from '../support/bank.js';
import { heldUp, type TestDatabase, testDatabase } from '../support/database.js';
import { assertLedgerSound } from '../support/world.js';

/** What one token may send at once: many times what a process has connections for. */
const CROWD = 200;
/** Of the process, as it is where nobody says otherwise: an answer within it is a real one. */
const COMMAND_TIMEOUT_MS = '4000';

describe('a tenant whose requests crowd at one account', () => {
  let db: TestDatabase;
  let api: TestApi;

  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db, { COMMAND_TIMEOUT_MS });
  });
  after(() => api.stop());

  it('keeps no transfer of another tenant from being made', async () => {
    const [crowding, other] = [await openBank(api), await openBank(api)];
    const busy = await crowding.account();
    const [from, to] = [await other.account(), await other.account()];
    await other.fund(from, { asset: 'COPM', raw: LEAST * 10n });
    const declaration = {
      ...{ type: 'business', legal_name: 'Crowd SAS', document_type: 'NIT' },
      ...{ document_number: '901234567', country: 'CO' },
    };
    const crowd = () =>
      Promise.all(
        Array.from({ length: CROWD }, () =>
          crowding.request('PUT', `/v1/accounts/${busy.id}/verification`, { body: declaration }),
        ),
      );
    const row = `SELECT id FROM accounts WHERE id=${idLiteral(busy.id)}`;
    await heldUp(db, row, crowd, async () => {
      answered(await other.send({ from, to, raw: LEAST }, { key: newId() }), 201);
    });
    await assertLedgerSound(api.core.database);
  });
});

import assert from 'node:assert/strict';
import { setFeeAccount } from '../../src/operations/fees.js';
import { startTestApi } from '../helpers/api.js';
import { answered, LEAST, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { openGuarded } from '../helpers/guarded.js';
import { assertLedgerSound, setFee, TEST_ACTOR } from '../helpers/world.js';
import { commandLine, words } from './ops.js';
import { SignedInPeople } from './signed-in.js';

const db = await testDatabase();
const api = await startTestApi(db);
const own = await openGuarded(api);
const people = new SignedInPeople(db);

describe('a captured transfer at the command line', () => {
  after(async () => {
    people.remove();
    await api.stop();
    await assertLedgerSound(db.database);
  });

  const { rows } = commandLine(() => people.env);

  it('is listed with the fee that was charged, and its event with the amount that moved', async () => {
    const { id: tenantId, name } = own.bank.tenant.tenant;
    await setFeeAccount(db.deps, tenantId, (await own.account()).id, TEST_ACTOR);
    await setFee(db.database, { tenantId, operation: 'transfer', basisPoints: 100n });
    const { json } = answered(await own.send({ raw: 5n * LEAST, capture: 'manual' }), 201);
    const capture = `/v1/transfers/${text(json.id)}/capture`;
    const moved = { raw: LEAST.toString(), asset: 'COPM' };
    const options = { body: { amount: moved }, token: own.tokens.creator };
    const captured = answered(await own.bank.request('POST', capture, options), 200).json;
    const [line] = await rows(...words`transfers list --tenant ${name} --columns id,fee`);
    assert.deepEqual(line, { id: json.id, fee: captured.fee });
    const [event] = await rows(...words`events list --tenant ${name} --type transfer.completed`);
    assert.deepEqual(event?.amount, moved);
  });
});

import assert from 'node:assert/strict';
import { startTestApi, type TestApi } from '../support/api.js';
import { answered, type Bank, idLiteral, LEAST, openBank, transferBody } from '../support/bank.js';
import type { TestDatabase } from '../support/database.js';
import { assertLedgerSound } from '../support/world.js';
import { ownDatabase } from '../webhooks/support.js';
import type { Account } from '../../src/db/entities/parties.js';

describe('while an asset is introduced', () => {
  let db: TestDatabase;
  let api: TestApi;
  let bank: Bank;
  let payer: Account;

  before(async () => {
    db = await ownDatabase('assets');
    await db.change(`ALTER TABLE balances MODIFY asset ENUM('COPM','DUSD','XTST') NOT NULL`);
    api = await startTestApi(db);
    bank = await openBank(api);
    payer = await bank.account({ funds: { COPM: 10n * LEAST, DUSD: LEAST } });
  });
  after(async () => {
    await api.stop();
    await db.remove();
  });

  it('a process that does not know it yet works with the accounts that have it, and shows what it knows', async () => {
    await db.change(`INSERT INTO balances VALUES (${idLiteral(payer.id)},'XTST',5,0,0)`);
    const payee = await bank.account();
    const body = transferBody({ from: payer, to: payee, raw: LEAST });
    answered(await bank.request('POST', '/v1/transfers', { body }), 201);
    const { balances } = answered(await bank.get(`/v1/accounts/${payer.id}/balances`), 200).json;
    assert.deepEqual(
      (balances as { asset: string; total: string }[]).map(({ asset, total }) => [asset, total]),
      [
        ['COPM', `${9n * LEAST}`],
        ['DUSD', `${LEAST}`],
      ],
    );
    await assertLedgerSound(db.database);
  });

  it('a process that knows it takes an account without a row of it as one that has none of it', async () => {
    const old = await bank.account();
    await db.change(`DELETE FROM balances WHERE account_id=${idLiteral(old.id)} AND asset='DUSD'`);
    const body = transferBody({ from: payer, to: old, raw: LEAST, asset: 'DUSD' });
    answered(await bank.request('POST', '/v1/transfers', { body }), 201);
    assert.equal(await bank.available(old, 'DUSD'), LEAST);
    await assertLedgerSound(db.database);
  });
});

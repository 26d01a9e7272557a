import assert from 'node:assert/strict';
import { ASSETS } from '../../src/core/amount.js';
import { startTestApi, type TestApi } from '../support/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  type Json,
  LEAST,
  list,
  openBank,
  text,
  transferBody,
} from '../support/bank.js';
import { type TestDatabase, widen } from '../support/database.js';
import { move, testKind } from '../support/kinds.js';
import { assertLedgerSound, openDesk } from '../support/world.js';
import { ownDatabase } from '../webhooks/support.js';
import { asUuid } from '../../src/core/ids.js';
import { transfers as transferTable } from '../../src/db/entities/operations.js';
import type { Account } from '../../src/db/entities/parties.js';

describe('while an asset is introduced', () => {
  let db: TestDatabase;
  let api: TestApi;
  let bank: Bank;
  let payer: Account;

  before(async () => {
    db = await ownDatabase('assets');
    await widen(db, 'XTST', 'asset');
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
    const left = new Map<string, bigint>([
      ['COPM', 9n * LEAST],
      ['DUSD', LEAST],
    ]);
    assert.deepEqual(
      list(balances).map(({ asset, total }) => [asset, total]),
      ASSETS.map((asset) => [asset, String(left.get(asset) ?? 0n)]),
    );
    await assertLedgerSound(db.database);
  });

  it('a process that does not know it yet lists everything but its rows, and only commands that name one fail', async () => {
    const [payee, other] = [await bank.account(), await bank.account()];
    const sent = async (): Promise<string> => {
      const body = transferBody({ from: payer, to: payee, raw: LEAST });
      return text(answered(await bank.request('POST', '/v1/transfers', { body }), 201).json.id);
    };
    const [older, newer] = [await sent(), asUuid(await sent())];
    const become = async (asset: string): Promise<void> => {
      await db.change(`UPDATE transfers SET asset='${asset}' WHERE id=${idLiteral(newer)}`);
      await db.change(`UPDATE entries e JOIN ledger_transactions x ON x.id=e.transaction_id
        SET e.asset='${asset}' WHERE x.related_id=${idLiteral(newer)}`);
    };
    await become('XTST');

    const listed = async (path: string): Promise<Json[]> => list(answered(await bank.get(path), 200).json.items);
    const transfers = await listed(`/v1/transfers?source_account=${payer.id}&limit=2`);
    assert.equal(transfers[0]?.id, older);
    assert.equal((await listed(`/v1/accounts/${payee.id}/movements`)).length, 1);

    const { desk } = openDesk(db.database);
    const strange = move({ from: payer, to: other, raw: 1n });
    const kind: typeof testKind = {
      ...testKind,
      accounts: async (commands, reader, isRetry) => {
        if (commands.includes(strange)) await reader.find(transferTable, { id: newer });
        return testKind.accounts(commands, reader, isRetry);
      },
    };
    const usual = [1n, 2n].map((raw) => move({ from: payer, to: other, raw }));
    const answers = await Promise.all([strange, ...usual].map((command) => desk.submit(kind, command)));
    assert.deepEqual(
      answers.map(({ outcome }) => outcome.done),
      [false, true, true],
    );

    await become('COPM');
    await assertLedgerSound(db.database);
  });

  it('a process that knows it treats an account without a row for it as having none', async () => {
    const old = await bank.account();
    await db.change(`DELETE FROM balances WHERE account_id=${idLiteral(old.id)} AND asset='DUSD'`);
    const body = transferBody({ from: payer, to: old, raw: LEAST, asset: 'DUSD' });
    answered(await bank.request('POST', '/v1/transfers', { body }), 201);
    assert.equal(await bank.available(old, 'DUSD'), LEAST);
    await assertLedgerSound(db.database);
  });
});

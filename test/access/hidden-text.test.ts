import assert from 'node:assert/strict';
import { addMember } from '../../src/access/members.js';
import { addTenant } from '../../src/access/tenants.js';
import { issueToken } from '../../src/access/tokens.js';
import { openAccount } from '../../src/accounts/opening.js';
import { freezeAccount } from '../../src/accounts/status.js';
import { readText } from '../../src/batches/validation/cells.js';
import { ApiError } from '../../src/core/errors.js';
import { systemClock as clock } from '../../src/core/instant.js';
import type { Account } from '../../src/db/entities/parties.js';
import { proposeAdjustment } from '../../src/funding/adjustments.js';
import { recordPayIn } from '../../src/funding/pay-ins.js';
import { run } from '../ops/ops.js';
import { payoutBody } from '../payouts/support.js';
import { startTestApi, type TestApi } from '../support/api.js';
import {
  answered,
  type Bank,
  idLiteral,
  type Json,
  LEAST,
  openBank,
  text,
  transferBody,
} from '../support/bank.js';
import { type TestDatabase, testDatabase } from '../support/database.js';
import { openGuarded } from '../support/guarded.js';
import { assertLedgerSound, someone, TEST_ACTOR } from '../support/world.js';
import { addStaff } from '../support/staff.js';

/** Shown by most programs as "Ana PM" though it is not. */
const TURNED = 'Ana \u202eMP';

describe('a text that hides or turns what is read', () => {
  let db: TestDatabase;
  let api: TestApi;
  let bank: Bank;
  let payer: Account;
  let receiver: Account;

  before(async () => {
    db = await testDatabase();
    api = await startTestApi(db);
    bank = await openBank(api);
    payer = await bank.account({ funds: { COPM: 100n * LEAST } });
    receiver = await bank.account();
  });

  after(async () => {
    await assertLedgerSound(db.database);
    await api.stop();
  });

  async function refused(field: string, method: string, path: string, body: Json): Promise<void> {
    const answer = answered(await bank.request(method, path, { body }), 400, 'invalid_field');
    assert.deepEqual([answer.details?.field, answer.details?.reason], [field, 'format_character']);
  }

  it('a text that hides or turns what is read is refused by every text field of the API', async () => {
    const transfer = { from: payer, to: receiver, raw: LEAST };
    await refused(
      'description',
      'POST',
      '/v1/transfers',
      transferBody({ ...transfer, description: TURNED }),
    );
    const { source_account, amount } = transferBody(transfer);
    const bonus = { source_account, amount, recipient: { account_id: receiver.id } };
    await refused('description', 'POST', '/v1/bonuses', { ...bonus, description: TURNED });
    await refused('reference', 'POST', '/v1/bonuses', { ...bonus, reference: TURNED });
    const payout = payoutBody({ from: payer, destination: { holder_name: TURNED } });
    await refused('destination.holder_name', 'POST', '/v1/payouts', payout);
    await refused(
      'description',
      'POST',
      '/v1/payouts',
      payoutBody({ from: payer, description: TURNED }),
    );
    const declared = {
      type: 'business',
      document_type: 'NIT',
      document_number: '900123456-1',
      country: 'CO',
    };
    const path = `/v1/accounts/${receiver.id}/verification`;
    await refused('legal_name', 'PUT', path, { ...declared, legal_name: TURNED });
    const form = new FormData();
    form.set('source_account', payer.id);
    form.set('description', TURNED);
    form.set('file', new Blob(['recipient,amount,asset\n']), 'payroll.csv');
    const uploaded = await bank.request('POST', '/v1/bonus_batches', { form });
    assert.equal(answered(uploaded, 400, 'invalid_field').details?.reason, 'format_character');
  });

  it('a text that hides or turns what is read is refused as the reason of a rejection', async () => {
    const guarded = await openGuarded(api);
    const { id } = await guarded.pend();
    const answer = await guarded.act('reject', id, 'approver', { body: { reason: TURNED } });
    assert.equal(answered(answer, 400, 'invalid_field').details?.reason, 'format_character');
    answered(await guarded.act('cancel', id, 'owner'), 200);
  });

  it('a text that hides or turns what is read is refused in a cell of a batch, as a problem of the row', () => {
    for (const field of ['description', 'reference'] as const) {
      const read = readText(field, { kind: 'text', text: TURNED }, 140);
      assert('problem' in read);
      assert.equal(read.problem.message, `${field} has a character that cannot be shown`);
    }
  });

  it('a text that hides or turns what is read is refused in every name and reason that operators give', async () => {
    const { database, desk } = api.core;
    const tenantId = bank.tenant.tenant.id;
    const { owner } = bank.tenant;
    const amount = { raw: 1n, asset: 'COPM' } as const;
    const money = {
      tenantId,
      accountId: payer.id,
      amount,
      reference: 'hidden',
      by: someone('maria'),
    };
    const opening = {
      tenantId,
      type: 'person',
      name: TURNED,
      alias: null,
      phone: null,
      grants: [],
    } as const;
    const wanted = { name: TURNED, scopes: ['read'], expiresAt: null, cidrs: [] } as const;
    const doors: Readonly<Record<string, () => Promise<unknown>>> = {
      tenant: () =>
        addTenant(
          database,
          clock,
          { name: TURNED, network: null, timeZone: 'America/Bogota' },
          TEST_ACTOR,
        ),
      member: () => addMember(database, clock, tenantId, TURNED, TEST_ACTOR),
      staff: () => addStaff(database, { name: TURNED, rights: ['approve'] }),
      token: () => issueToken(database, clock, owner, wanted, TEST_ACTOR),
      account: () => openAccount(database, clock, opening, TEST_ACTOR),
      freeze: () => freezeAccount(database, clock, payer.id, { actor: TEST_ACTOR, reason: TURNED }),
      payIn: () => recordPayIn({ database, desk }, { ...money, description: TURNED }),
      adjustment: () =>
        proposeAdjustment({ database, desk }, { ...money, direction: 'in', reason: TURNED }),
    };
    for (const [door, knock] of Object.entries(doors))
      await assert.rejects(
        knock,
        (failure) =>
          failure instanceof ApiError && failure.refusal.details?.reason === 'format_character',
        door,
      );
  });

  it('a text that hides or turns what is read that is already stored is shown with escapes by ops, which a program reads as the same text', async () => {
    const tenant = await openBank(api);
    const account = await tenant.account();
    const stored = `${TURNED}\u001b[2J\u009b`;
    await db.change(`UPDATE accounts SET name='${stored}' WHERE id=${idLiteral(account.id)}`);
    const shown = async (...args: readonly string[]): Promise<string> => {
      const ran = await run(
        'src/ops/main.js',
        ['accounts', 'list', '--tenant', tenant.tenant.tenant.id, ...args],
        {
          MYSQL_URL: db.url,
        },
      );
      assert.equal(ran.code, 0, ran.stderr);
      assert.doesNotMatch(ran.stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      return ran.stdout;
    };
    assert.match(await shown(), /Ana \\u202eMP\\u001b\[2J\\u009b/);
    const names = (JSON.parse(await shown('--json')) as Json[]).map(({ name }) => text(name));
    assert.ok(names.includes(stored), names.join());
  });

  it('a text that hides or turns what is read that is an argument is escaped in the message about it', async () => {
    const ran = await run('src/ops/main.js', ['accounts', 'list', '--tenant', TURNED], {
      MYSQL_URL: db.url,
    });
    assert.equal(ran.code, 1);
    assert.match(ran.stderr, /Ana \\u202eMP/);
    const unknown = await run('src/ops/main.js', [`--${TURNED}`], { MYSQL_URL: db.url });
    assert.equal(unknown.code, 2);
    assert.match(unknown.stderr, /Ana \\u202eMP/);
  });
});

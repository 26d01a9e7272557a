import assert from 'node:assert/strict';
import { addTenant } from '../../src/accounts/tenants.js';
import { issueToken } from '../../src/members/tokens.js';
import { openAccount } from '../../src/accounts/open-accounts.js';
import { freezeAccount } from '../../src/accounts/status.js';
import { readText } from '../../src/batches/validation/cells.js';
import { ApiError } from '../../src/core/errors.js';
import { systemClock as clock } from '../../src/core/instant.js';
import { proposeAdjustment, recordPayIn } from '../../src/funding/service.js';
import { run } from '../ops/ops.js';
import { startTestApi } from '../helpers/api.js';
import { idLiteral, type Json, LEAST, openBank, text } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { assertLedgerSound, someone, TEST_ACTOR } from '../helpers/world.js';
import { addStaff } from '../helpers/staff.js';

/** Shown by most programs as "Ana PM" though it is not. */
const TURNED = 'Ana \u202eMP';

const db = await testDatabase();
const api = await startTestApi(db);
const bank = await openBank(api);
const payer = await bank.account({ funds: { COPM: 100n * LEAST } });

describe('a text with invisible or direction-changing characters', () => {
  after(() => assertLedgerSound(db.database));

  it('a cell of a batch with invisible or direction-changing characters is a problem of its row', () => {
    for (const field of ['description', 'reference'] as const) {
      const read = readText(field, { kind: 'text', text: TURNED }, 140);
      assert('problem' in read);
      assert.equal(read.problem.message, `${field} has a character that cannot be shown`);
    }
  });

  it('every name and reason that operators enter refuses invisible and direction-changing characters', async () => {
    const { database, writer } = api.core;
    const deps = { database, clock, writer };
    const { tenant, owner } = bank.tenant;
    const amount = { raw: 1n, asset: 'COPM' } as const;
    const place = { tenantId: tenant.id, accountId: payer.id, amount };
    const money = { ...place, reference: 'hidden', by: someone('maria') } as const;
    const reason = { actor: TEST_ACTOR, reason: TURNED };
    const named = { tenantId: tenant.id, type: 'person', name: TURNED, alias: null } as const;
    const token = { name: TURNED, scopes: ['read'], expiresAt: null, cidrs: [] } as const;
    const home = { name: TURNED, network: null, timeZone: 'America/Bogota' };
    const doors: Readonly<Record<string, () => Promise<unknown>>> = {
      tenant: () => addTenant(database, clock, home, TEST_ACTOR),
      member: () => bank.member(TURNED),
      staff: () => addStaff(database, { name: TURNED, rights: ['approve'] }),
      token: () => issueToken(database, clock, owner, token, TEST_ACTOR),
      account: () => openAccount(deps, { ...named, phone: null, grants: [] }, TEST_ACTOR),
      freeze: () => freezeAccount(deps, payer.id, reason),
      payIn: () => recordPayIn(deps, { ...money, description: TURNED }),
      adjustment: () => proposeAdjustment(deps, { ...money, direction: 'in', reason: TURNED }),
    };
    for (const [door, knock] of Object.entries(doors))
      await assert.rejects(
        knock,
        (failure) =>
          failure instanceof ApiError && failure.refusal.details?.reason === 'format_character',
        door,
      );
  });

  it('the command line escapes invisible characters of stored texts, so that programs read the same text', async () => {
    const tenant = await openBank(api);
    const account = await tenant.account();
    const stored = `${TURNED}\u001b[2J\u009b`;
    await db.change(`UPDATE accounts SET name='${stored}' WHERE id=${idLiteral(account.id)}`);
    const shown = async (...args: readonly string[]): Promise<string> => {
      const ran = await run(
        'src/ops/main.js',
        ['accounts', 'list', '--tenant', tenant.tenant.tenant.id, ...args],
        { MYSQL_URL: db.url },
      );
      assert.equal(ran.code, 0, ran.stderr);
      assert.doesNotMatch(ran.stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      return ran.stdout;
    };
    assert.match(await shown(), /Ana \\u202eMP\\u001b\[2J\\u009b/);
    const names = (JSON.parse(await shown('--json')) as Json[]).map(({ name }) => text(name));
    assert.ok(names.includes(stored), names.join());
  });
});

import { newId, type Uuid } from '../../src/core/ids.js';
import { created, person, setRole } from '../access/own-access-support.js';
import { startTestApi } from '../helpers/api.js';
import { answered, idLiteral as id, openBank, text } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { type Damages, damageTests } from './damages.js';

/** A branch that its owner opened, and a clerk whose token the owner created. */
interface Victims {
  readonly tenantId: Uuid;
  readonly branch: string;
  readonly owner: string;
  readonly clerk: string;
  /** The ids of the owner's token and of the clerk's, which are not secret. */
  readonly creating: string;
  readonly made: string;
}

const STRANGER = newId();

const token = (set: string, keyId: string): string =>
  `UPDATE tokens SET ${set} WHERE key_id='${keyId}'`;

const DAMAGES: Damages<Victims> = {
  'an account without a role, although a member opened it': [
    ({ branch }) => `DELETE FROM member_roles WHERE account_id=${id(branch)}`,
    ['account_owner'],
  ],
  'an account whose owner is now its admin': [
    ({ branch, owner }) =>
      `UPDATE member_roles SET role='admin' WHERE account_id=${id(branch)} AND member_id=${id(owner)}`,
    ['account_owner'],
  ],
  'a live token of a member that does not exist': [
    ({ made }) => token(`member_id=${id(newId())}`, made),
    ['token_member'],
  ],
  'a live token of a member that was removed': [
    ({ clerk }) => [
      `DELETE FROM member_roles WHERE member_id=${id(clerk)}`,
      `UPDATE members SET is_active=NULL WHERE id=${id(clerk)}`,
    ],
    // One was issued by operators.
    ['token_member', 'token_member'],
  ],
  "a live token of another tenant's member": [
    ({ made, clerk }) => [
      `INSERT INTO members SELECT ${id(STRANGER)}, ${id(STRANGER)}, 'a stranger', 1, created_at FROM members WHERE id=${id(clerk)}`,
      token(`member_id=${id(STRANGER)}`, made),
    ],
    ['token_member'],
  ],
  'a token whose creator does not exist': [
    ({ made }) => token("created_by_key='nobody'", made),
    ['token_creator'],
  ],
  'a token whose creator had been revoked': [
    ({ made }) =>
      `UPDATE tokens child JOIN tokens parent ON parent.key_id=child.created_by_key
       SET parent.revoked_at=child.created_at - INTERVAL 6 SECOND WHERE child.key_id='${made}'`,
    ['token_creator'],
  ],
  'a token with a scope that its creator lacks': [
    ({ creating }) => token("scopes='access'", creating),
    ['token_creator'],
  ],
};

describe('damage to own access', () => {
  damageTests(DAMAGES, {
    name: 'damaged_access',
    makeVictims,
    ofNoTenant: ['token_creator', 'token_member'],
  });
});

async function makeVictims(db: TestDatabase): Promise<Victims> {
  const api = await startTestApi(db);
  // Rows that disappear would close the ledger.
  api.core.rollbackGuard.stop();
  const bank = await openBank(api);
  await bank.account();
  const [owner, clerk] = [await person(bank), await person(bank, ['read'])];
  const account = await bank.account();
  answered(await setRole(bank, account, owner.member, 'owner'), 200);
  answered(await setRole(bank, account, clerk.member, 'viewer'), 200);
  const body = { type: 'business', name: 'Branch' };
  const by = { token: owner.token };
  const opened = answered(await bank.request('POST', '/v1/accounts', { body, ...by }), 201);
  const made = await created(bank, clerk.member, { scopes: ['read'], ...by });
  return {
    tenantId: bank.tenant.tenant.id,
    branch: text(opened.json.id),
    ...{ owner: owner.member.id, clerk: clerk.member.id },
    ...{ creating: owner.keyId, made: made.keyId },
  };
}

import assert from 'node:assert/strict';
import { grantRole, removeRole } from '../../src/members/roles.js';
import { systemClock } from '../../src/core/instant.js';
import { type Role, ROLES, type Scope, SCOPES } from '../../src/core/permissions.js';
import { startTestApi } from '../helpers/api.js';
import { answered, type Json, LEAST, openBank } from '../helpers/bank.js';
import { testDatabase } from '../helpers/database.js';
import { describedApi } from '../helpers/described.js';
import { TEST_ACTOR } from '../helpers/world.js';
import {
  documentedRoutes,
  type Endpoint,
  ENDPOINTS,
  makeTarget,
  methodOf,
  renewed,
  type Target,
} from './matrix-endpoints.js';

const NONE = 'no role';
type Standing = Role | typeof NONE;
const STANDINGS: readonly Standing[] = [...ROLES, NONE];

const db = await testDatabase();

/** By the member's role in the target's accounts, and the one scope of the token. */
const tokens = new Map<string, string>();
// What it answers, and takes, is what its document describes: every operation is asked here.
const api = await describedApi(await startTestApi(db));
const bank = await openBank(api);
const roles = [];
for (const standing of STANDINGS) {
  const member = await bank.member(`who has ${standing}`);
  if (standing !== NONE) roles.push({ memberId: member.id, role: standing });
  for (const scope of SCOPES) tokens.set(`${standing}/${scope}`, await bank.issue(member, [scope]));
}
const target = await makeTarget(bank, { roles });

describe('the rights of roles and scopes', () => {
  const tokenOf = (standing: Standing, scope: Scope): string => tokens.get(`${standing}/${scope}`)!;

  it('the matrix of permissions covers every endpoint of the service', async () => {
    const documented = await documentedRoutes(api);
    assert.deepEqual([...documented.keys()].sort(), ENDPOINTS.map(({ route }) => route).sort());
    for (const { route, scopes } of ENDPOINTS)
      assert.deepEqual(documented.get(route), scopes, route);
  });

  for (const endpoint of ENDPOINTS)
    it(`apply to ${endpoint.route}: ${words(endpoint)}`, async () => {
      for (const standing of STANDINGS)
        for (const scope of SCOPES) {
          const { path, ...asked } = endpoint.ask(await renewedFor(endpoint, standing, scope));
          const answer = await bank.request(methodOf(endpoint), path, {
            token: tokenOf(standing, scope),
            ...asked,
          });
          assert.equal(
            `${standing}/${scope}: ${answer.status} ${answer.code ?? ''} ${isEmpty(answer.json)}`,
            `${standing}/${scope}: ${expected(endpoint, standing, scope)}`,
          );
        }
    });

  /** A refused request uses nothing up. */
  function renewedFor(endpoint: Endpoint, standing: Standing, scope: Scope): Promise<Target> {
    const isDone = expected(endpoint, standing, scope).startsWith('2');
    return isDone ? renewed(endpoint, target) : Promise.resolve(target);
  }

  function words({ scopes, roles }: Endpoint): string {
    return `scope ${scopes.join(' or ')}${roles === null ? '' : `, role ${roles.join(', ')}`}, and nobody else`;
  }

  function isEmpty({ items }: Json): boolean {
    return Array.isArray(items) && items.length === 0;
  }

  function expected(
    { scopes, roles, status, code, isList }: Endpoint,
    standing: Standing,
    scope: Scope,
  ): string {
    if (!scopes.includes(scope)) return '401 insufficient_scope false';
    // With this scope alone, every operation on the tenant's things requires an owner.
    if (scope === 'access' && roles !== null && standing !== 'owner')
      return '403 authority_insufficient false';
    const isAllowed = roles === null || (standing !== NONE && roles.includes(standing));
    if (isAllowed) return `${status} ${code ?? ''} false`;
    return isList === true ? '200  true' : '403 authority_insufficient false';
  }

  it('one of the scopes of an operation is enough, and a token may have several scopes', async () => {
    const several = await bank.issue(bank.tenant.owner, ['transfers', 'lookup']);
    for (const endpoint of ENDPOINTS) {
      const { path, ...asked } = endpoint.ask(await renewed(endpoint, target));
      const answer = await bank.request(methodOf(endpoint), path, { token: several, ...asked });
      const isAllowed = endpoint.scopes.some(
        (scope) => scope === 'transfers' || scope === 'lookup',
      );
      assert.equal(
        answer.status,
        isAllowed ? endpoint.status : 401,
        `${endpoint.route} ${answer.text}`,
      );
    }
  });

  it('a missing scope is reported with the scopes that would be enough', async () => {
    const token = tokenOf('owner', 'payouts');
    const answer = answered(
      await bank.request('GET', '/v1/transfers', { token }),
      401,
      'insufficient_scope',
    );
    assert.match(
      answer.headers.get('www-authenticate') ?? '',
      /error="insufficient_scope", scope="read transfers"/,
    );
  });

  it('a role is valid from when it is granted until it is removed, in the very next request', async () => {
    const member = await bank.member('coming and going');
    const token = await bank.issue(member);
    const account = await bank.account({ funds: { COPM: 10n * LEAST } });
    const send = async (): Promise<number> =>
      (await bank.send({ from: account, to: target.other, raw: LEAST }, { token })).status;
    const look = async (): Promise<number> =>
      (await bank.request('GET', `/v1/accounts/${account.id}/balances`, { token })).status;
    for (let round = 0; round < 2; round += 1) {
      assert.deepEqual([await send(), await look()], [403, 403]);
      await grantRole(db.database, systemClock, member, account.id, 'operator', TEST_ACTOR);
      assert.deepEqual([await send(), await look()], [201, 200]);
      await removeRole(db.database, systemClock, member, account.id, TEST_ACTOR);
    }
  });
});

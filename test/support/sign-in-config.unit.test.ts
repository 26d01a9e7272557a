import assert from 'node:assert/strict';
import { ConfigError, readSupportConfig } from '../../src/config/config.js';
import { providerOf } from '../../src/config/sign-in.js';
import { STAFF_RIGHTS } from '../../src/db/entities/staff.js';
import { testEnvironment } from '../helpers/api.js';

const ISSUER = {
  SUPPORT_OIDC_ISSUER: 'https://login.example.com/realms/staff',
  SUPPORT_OIDC_CLIENT_ID: 'desk',
};
const read = (environment: Readonly<Record<string, string>>) =>
  readSupportConfig(testEnvironment('mysql://user:password@127.0.0.1:3306/money', environment));

describe('the configuration of signing in at the support desk', () => {
  it('by default people sign in at the support desk only by name and code', () => {
    const config = read({});
    assert.deepEqual([providerOf(config), config.SUPPORT_CODE_SIGN_IN], [null, 'on']);
  });

  it("accepts a provider, the desk's client id there, and the rights of its groups", () => {
    const config = read({
      ...ISSUER,
      SUPPORT_OIDC_CLIENT_SECRET: 'secret',
      SUPPORT_OIDC_RIGHTS: 'Support Staff=approve+cancel,leads=all',
      SUPPORT_CODE_SIGN_IN: 'off',
    });
    assert.deepEqual(providerOf(config), {
      issuer: ISSUER.SUPPORT_OIDC_ISSUER,
      clientId: 'desk',
      clientSecret: 'secret',
      scope: 'openid profile',
      nameClaim: 'preferred_username',
      rights: {
        claim: 'groups',
        byValue: new Map<string, readonly string[]>([
          ['Support Staff', ['approve', 'cancel']],
          ['leads', STAFF_RIGHTS],
        ]),
      },
    });
    assert.equal(providerOf(read(ISSUER))?.clientSecret, null);
  });

  it('accepts a provider by http only on this machine', () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]'])
      assert(providerOf(read({ ...ISSUER, SUPPORT_OIDC_ISSUER: `http://${host}:8090` })) !== null);
  });

  for (const [what, environment, fault] of [
    [
      'a provider by http elsewhere',
      { ...ISSUER, SUPPORT_OIDC_ISSUER: 'http://login.example.com' },
      /must be https/,
    ],
    [
      'a provider by no address',
      { ...ISSUER, SUPPORT_OIDC_ISSUER: 'login' },
      /SUPPORT_OIDC_ISSUER/,
    ],
    ['no client id', { SUPPORT_OIDC_ISSUER: ISSUER.SUPPORT_OIDC_ISSUER }, /CLIENT_ID: is not set/],
    ['no provider', { SUPPORT_OIDC_CLIENT_ID: 'desk' }, /SUPPORT_OIDC_ISSUER: is not set/],
    ['rights and no provider', { SUPPORT_OIDC_RIGHTS: 'a=all' }, /SUPPORT_OIDC_ISSUER: is not set/],
    ['no way in', { SUPPORT_CODE_SIGN_IN: 'off' }, /nobody could sign in/],
    [
      'a right that there is not',
      { ...ISSUER, SUPPORT_OIDC_RIGHTS: 'a=approve+fly' },
      /value=right\+right/,
    ],
    ['no right', { ...ISSUER, SUPPORT_OIDC_RIGHTS: 'a=' }, /value=right\+right/],
    ['no value', { ...ISSUER, SUPPORT_OIDC_RIGHTS: '=approve' }, /value=right\+right/],
    ['another scope', { ...ISSUER, SUPPORT_OIDC_SCOPE: 'profile' }, /must begin with openid/],
    ['neither on nor off', { SUPPORT_CODE_SIGN_IN: 'no' }, /SUPPORT_CODE_SIGN_IN/],
  ] as const)
    it(`is refused with ${what}`, () => {
      assert.throws(
        () => read(environment),
        (failure) => failure instanceof ConfigError && fault.test(failure.message),
      );
    });
});

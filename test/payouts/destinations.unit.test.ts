import assert from 'node:assert/strict';
import { instant } from '../../src/core/instant.js';
import { chooseDestination, type HolderCheck } from '../../src/payouts/destination.js';
import { maskedName } from '../../src/payouts/recipients.js';
import {
  GATEWAY_TERMS,
  keyFormats,
  keyTypeOf,
  type RailTerms,
  SIMULATED_TERMS,
  takesPayment,
} from '../../src/payouts/rails/destinations.js';

const NOW = instant(1_000_000);
const tenant = { id: 'a-tenant', name: 'acme' };
const routes = [{ tenant: '*', country: 'CO', rail: 'http:bank-a' }];
const terms: RailTerms = {
  ...SIMULATED_TERMS,
  limits: { bank_account: {}, bre_b_key: { COPM: { min: 100n, max: 5_000n } } },
  keyFormats: keyFormats({ phone: '3[0-9]{9}' }),
};
const check: HolderCheck = { rail: 'http:bank-a', holder: 'H-1', expiresAt: NOW };

describe('the destination of a payout', () => {
  it('a key has the first type whose format it has', () => {
    for (const [key, type] of [
      ['ana.perez+x@example.com.co', 'email'],
      ['ana@example', null],
      ['@ana01', 'alias'],
      ['@ana', null],
      ['3001112233', 'phone'],
      ['+573001112233', 'phone'],
      ['+13001112233', null],
      ['0012345678', 'merchant'],
      ['1020304050', 'document'],
      ['900555001', 'document'],
      ['12345', null],
      ['10 20 30 40', null],
      ['3001112233\n', null],
      ['', null],
    ] as const)
      assert.equal(keyTypeOf(SIMULATED_TERMS, key), type, key);
    assert.equal(keyTypeOf(terms, '1020304050'), null, "another rail's formats");
  });

  it('a rail takes only the types and amounts of its settings', () => {
    for (const [its, type, raw, asset, taken] of [
      [GATEWAY_TERMS, 'bank_account', 1n, 'COPM', true],
      [GATEWAY_TERMS, 'bre_b_key', 1n, 'COPM', false],
      [SIMULATED_TERMS, 'bre_b_key', 1n, 'DUSD', true],
      [terms, 'bre_b_key', 99n, 'COPM', false],
      [terms, 'bre_b_key', 100n, 'COPM', true],
      [terms, 'bre_b_key', 5_000n, 'COPM', true],
      [terms, 'bre_b_key', 5_001n, 'COPM', false],
      [terms, 'bre_b_key', 5_001n, 'DUSD', true],
      [terms, 'bank_account', 5_001n, 'COPM', true],
    ] as const)
      assert.equal(takesPayment(its, type, { raw, asset }), taken, `${type} ${raw} ${asset}`);
  });

  it('a payout to a key is refused for its rail, type, amount, key and check, in this order', () => {
    const choose = (
      change: Partial<Parameters<typeof chooseDestination>[2]['destination']> = {},
      { raw = 100n, at = NOW, rails = { routes, terms: new Map([['http:bank-a', terms]]) } } = {},
    ) => {
      const destination = { type: 'bre_b_key', key: '3001112233', check, ...change } as const;
      const amount = { raw, asset: 'COPM' } as const;
      const chosen = chooseDestination(rails, tenant, { destination, amount } as never, at);
      if (!('refusal' in chosen)) return chosen;
      const { field, reason } = chosen.refusal.details ?? {};
      return field === undefined ? chosen.refusal.code : [field, reason].join(' ');
    };
    const columns = { country: 'CO', keyType: 'phone', keyEnd: '2233' };
    assert.deepEqual(choose(), { rail: 'http:bank-a', columns });
    assert.deepEqual(choose({ check: null }), { rail: 'http:bank-a', columns });
    const nowhere = { routes: [], terms: new Map() };
    const closed = { routes, terms: new Map() };
    const forged = 'destination.holder_check not_a_check_of_this_key';
    for (const [expected, change, more] of [
      ['destination.type not_supported', { key: 'x' }, { rails: nowhere }],
      ['destination.type not_supported', { key: 'x' }, { rails: closed }],
      ['destination.type not_supported', { key: 'x' }, { raw: 99n }],
      ['destination.key malformed', { key: 'x', check: 'forged' }, {}],
      [forged, { check: 'forged' }, {}],
      [forged, { check: { ...check, rail: 'simulated' } }, {}],
      ['destination.holder_check expired', {}, { at: instant(NOW + 1) }],
      ['ledger_unavailable', { check: 'unknown_key' }, {}],
    ] as const)
      assert.equal(choose(change, more), expected);
  });

  it('a holder is shown by the first word of several and by initials', () => {
    for (const [name, shown] of [
      ['Ana María Pérez', 'Ana M*** P***'],
      ['  Ana   Pérez ', 'Ana P***'],
      ['Comercial', 'C***'],
      ['ana p*** p***', 'ana P*** P***'],
      ['Ана Ёлкина', 'Ана Ё***'],
    ] as const)
      assert.equal(maskedName(name), shown);
  });
});

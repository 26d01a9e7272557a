import assert from 'node:assert/strict';
import {
  ConfigError,
  readConfig,
  readOpsConfig,
  readWorkerConfig,
} from '../../src/config/config.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
const REST = {
  MYSQL_URL: 'mysql://app:secret@127.0.0.1:3306/money',
  FINGERPRINT_KEYS: `one:${KEY}`,
  CURSOR_KEYS: `one:${KEY}`,
  ENCRYPTION_KEYS: `one:${KEY}`,
};

function refusalOf(environment: Record<string, string>): string {
  try {
    readConfig({ ...REST, ...environment });
    return '';
  } catch (error) {
    assert(error instanceof ConfigError);
    return error.message;
  }
}

describe('the configuration of rails', () => {
  it('no rail is configured by default, so nothing is sent over a simulated rail by accident', () => {
    assert.deepEqual(readConfig(REST).PAYOUT_RAILS, []);
  });

  it('reads routes, addresses and keys, the first of which signs', () => {
    const config = readConfig({
      ...REST,
      PAYOUT_RAILS: 'Acme S.A./CO=http:bank-a, acme/*=simulated,*/US=simulated,*=http:bank-a',
      PAYOUT_RAIL_URLS: 'bank-a=https://gateway.example/v1?x=y',
      PAYOUT_RAIL_KEYS: `bank-a=k2:${KEY},bank-a=k1:${KEY}`,
    });
    assert.deepEqual(
      config.PAYOUT_RAILS.map(({ tenant, country, rail }) => `${tenant}|${country}|${rail}`),
      ['Acme S.A.|CO|http:bank-a', 'acme|*|simulated', '*|US|simulated', '*|*|http:bank-a'],
    );
    assert.equal(config.PAYOUT_RAIL_URLS.get('bank-a'), 'https://gateway.example/v1?x=y');
    assert.deepEqual(
      config.PAYOUT_RAIL_KEYS.get('bank-a')?.map(({ id }) => id),
      ['k2', 'k1'],
    );
  });

  it('refuses invalid values, and a gateway without address or key', () => {
    assert.match(refusalOf({ PAYOUT_RAILS: '*=bank-a' }), /bank-a is not a rail/);
    assert.match(refusalOf({ PAYOUT_RAILS: 'acme/XX=simulated' }), /acme\/XX must be/);
    assert.match(refusalOf({ PAYOUT_RAILS: '/CO=simulated' }), /must be \*, tenant\/COUNTRY/);
    assert.match(refusalOf({ PAYOUT_RAIL_URLS: 'bank-a=ftp://x' }), /PAYOUT_RAIL_URLS/);
    const without = refusalOf({ PAYOUT_RAILS: '*=http:bank-a' });
    assert.match(without, /bank-a has no address/);
    assert.match(without, /bank-a has no key/);
  });

  it('has the times of each gateway: for returns, for late payments and for statements', () => {
    const worker = readWorkerConfig({
      ...REST,
      PAYOUT_RAIL_RETURN_WINDOW_S: 'bank-a=2592000,bank-b=3600',
    });
    assert.deepEqual(
      [...worker.PAYOUT_RAIL_RETURN_WINDOW_S],
      [
        ['http:bank-a', 30 * 86_400_000],
        ['http:bank-b', 3_600_000],
      ],
    );
    const given = {
      PAYOUT_RAIL_QUIET_S: 'bank-a=60',
      PAYOUT_RAIL_STATEMENT_DELAY_S: 'simulated=0',
    };
    const ops = readOpsConfig({ ...REST, ...given });
    assert.deepEqual([...ops.PAYOUT_RAIL_QUIET_S], [['http:bank-a', 60_000]]);
    assert.deepEqual([...ops.PAYOUT_RAIL_STATEMENT_DELAY_S], [['simulated', 0]]);
    assert.equal(readOpsConfig(REST).PAYOUT_RAIL_QUIET_S.size, 0);
    for (const wrong of ['bank-a', 'bank-a=59', 'bank-a=1h', 'Bank A=3600', 'bank-a=99999999'])
      assert.throws(
        () => readOpsConfig({ ...REST, PAYOUT_RAIL_QUIET_S: wrong }),
        /PAYOUT_RAIL_QUIET_S/,
      );
  });

  it('accepts a gateway over https, and over http only at a host the operator allows', () => {
    const keys = { PAYOUT_RAIL_KEYS: `bank-a=k1:${KEY}` };
    const open = { ...keys, PAYOUT_RAIL_URLS: 'bank-a=http://127.0.0.1:9999/v1' };
    const allowed = { ...open, PAYOUT_RAIL_ALLOWED_HOSTS: 'http://127.0.0.1:*' };
    assert.match(refusalOf(open), /bank-a must be https, or its host in PAYOUT_RAIL_ALLOWED_HOSTS/);
    assert.equal(refusalOf(allowed), '');
    assert.equal(refusalOf({ ...keys, PAYOUT_RAIL_URLS: 'bank-a=https://gateway.example' }), '');
    const others = [
      'http://127.0.0.1.example:9999',
      'http://127.0.0.1@gateway.example',
      'http://10.0.0.5',
    ];
    for (const url of others)
      assert.match(refusalOf({ ...allowed, PAYOUT_RAIL_URLS: `bank-a=${url}` }), /must be https/);
    // Where tenants' receivers may be says nothing of where our own gateways are.
    assert.match(
      refusalOf({ ...open, WEBHOOK_ALLOWED_HOSTS: 'http://127.0.0.1:*' }),
      /must be https/,
    );
    assert.throws(() => readOpsConfig({ ...REST, ...open }), /must be https/);
    readOpsConfig({ ...REST, ...allowed });
  });

  it('never shows a key in an error', () => {
    const secret = 'c2VjcmV0';
    const message = refusalOf({ PAYOUT_RAIL_KEYS: `bank-a=k1:${secret}` });
    assert(message.includes('PAYOUT_RAIL_KEYS') && !message.includes(secret));
  });
});

import assert from 'node:assert/strict';
import { ConfigError, readConfig } from '../../src/config/config.js';

const KEY = Buffer.alloc(32, 7).toString('base64');
/** All that has no default. */
const LEAST = {
  MYSQL_URL: 'mysql://app:secret@127.0.0.1:3306/money',
  FINGERPRINT_KEYS: `one:${KEY}`,
  CURSOR_KEYS: `one:${KEY}`,
};

function faultsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    assert(error instanceof ConfigError);
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(':')[0]!);
  }
}

describe('the configuration', () => {
  it('is usable if only the variables without a default are set', () => {
    const config = readConfig({ ...required(), ...LEAST });
    assert.equal(config.PORT, 8080);
    assert.equal(config.FINGERPRINT_KEYS[0].id, 'one');
  });

  it('names every variable that is missing at once', () => {
    const faults = faultsOf({});
    for (const name of Object.keys(LEAST)) assert(faults.includes(name), name);
  });

  it('reports every fault at once, each with its reason', () => {
    const environment = {
      ...required(),
      ...LEAST,
      PORT: 'eighty',
      MYSQL_URL: 'http://x',
      API_PROCESSES: '0',
      LOG_LEVEL: 'loud',
    };
    assert.deepEqual(faultsOf(environment).sort(), [
      'API_PROCESSES',
      'LOG_LEVEL',
      'MYSQL_URL',
      'PORT',
    ]);
  });

  it('never shows a secret in a fault', () => {
    const secret = 'c2VjcmV0';
    assert.throws(
      () => readConfig({ ...required(), ...LEAST, FINGERPRINT_KEYS: `one:${secret}` }),
      (error: Error) => {
        assert(error.message.includes('FINGERPRINT_KEYS') && !error.message.includes(secret));
        return true;
      },
    );
  });

  it('accepts the address of a Redis, and never shows its password', () => {
    assert.equal(readConfig({ ...required(), ...LEAST }).REDIS_URL, undefined);
    for (const url of ['redis://127.0.0.1:6379', 'rediss://user:s3cret@cache.example/2'])
      assert.equal(readConfig({ ...required(), ...LEAST, REDIS_URL: url }).REDIS_URL, url);
    for (const url of ['127.0.0.1:6379', 'http://s3cret@cache.example', 'redis', ' '])
      assert.throws(
        () => readConfig({ ...required(), ...LEAST, REDIS_URL: url }),
        (error: Error) => error.message.includes('REDIS_URL') && !error.message.includes('s3cret'),
      );
  });

  it('refuses numbers outside their range and anything that is not a whole number', () => {
    for (const [name, value] of [
      ['PORT', '65536'],
      ['PORT', '-1'],
      ['PORT', '80.5'],
      ['MYSQL_READ_CONNECTIONS', '0'],
      ['COMMAND_TIMEOUT_MS', '99'],
      ['COMMAND_TIMEOUT_MS', '4001'],
    ] as const)
      assert.deepEqual(
        faultsOf({ ...required(), ...LEAST, [name]: value }),
        [name],
        `${name}=${value}`,
      );
  });

  it('changes only the rates that are set, each with a burst in the usual proportion', () => {
    const ratesOf = (RATE_LIMITS: string) =>
      readConfig({ ...required(), ...LEAST, RATE_LIMITS }).RATE_LIMITS;
    const usual = {
      requests: { perSecond: 100, burst: 200 },
      lookup: { perSecond: 5, burst: 20 },
      uploads: { perSecond: 10 / 60, burst: 10 },
      redeliver: { perSecond: 1, burst: 60 },
    };
    assert.deepEqual(ratesOf(''), usual);
    const set = {
      ...usual,
      requests: { perSecond: 50, burst: 100 },
      lookup: { perSecond: 1, burst: 3 },
    };
    assert.deepEqual(ratesOf('requests=50, lookup=1/3'), set);
    for (const wrong of ['requests', 'requests=0', 'requests=1/0', 'others=1', 'requests=1/2/3'])
      assert.deepEqual(
        faultsOf({ ...required(), ...LEAST, RATE_LIMITS: wrong }),
        ['RATE_LIMITS'],
        wrong,
      );
  });
});

/** Later versions also take keys, in the same form. */
function required(): Record<string, string> {
  return Object.fromEntries(faultsOf({}).map((name) => [name, `one:${KEY}`]));
}

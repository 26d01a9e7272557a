import assert from 'node:assert/strict';
import { ConfigError, readConfig, VARIABLES } from '../../src/config.js';

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
  it('is usable with what has no default', () => {
    const config = readConfig({ ...required(), ...LEAST });
    assert.equal(config.PORT, 8080);
    assert.equal(config.FINGERPRINT_KEYS[0].id, 'one');
  });

  it('names every variable that is missing at once', () => {
    const faults = faultsOf({});
    for (const name of Object.keys(LEAST)) assert(faults.includes(name), name);
  });

  it('names every fault at once, each with what is wrong', () => {
    const environment = {
      ...required(),
      ...LEAST,
      PORT: 'eighty',
      MYSQL_URL: 'http://x',
      API_PROCESSES: '0',
      LOG_LEVEL: 'loud',
      FAILPOINT: 'somewhere',
    };
    assert.deepEqual(faultsOf(environment).sort(), ['API_PROCESSES', 'FAILPOINT', 'LOG_LEVEL', 'MYSQL_URL', 'PORT']);
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

  it('treats an empty variable as not set', () => {
    assert.equal(readConfig({ ...required(), ...LEAST, PORT: '' }).PORT, 8080);
  });

  it('keeps old keys after the first', () => {
    const config = readConfig({ ...required(), ...LEAST, CURSOR_KEYS: `new:${KEY},old:${KEY}` });
    assert.deepEqual(
      config.CURSOR_KEYS.map((key) => [key.id, key.secret.length]),
      [
        ['new', 32],
        ['old', 32],
      ],
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
      ['DESK_MAX_GROUP', '0'],
      ['COMMAND_TIMEOUT_MS', '99'],
    ] as const)
      assert.deepEqual(faultsOf({ ...required(), ...LEAST, [name]: value }), [name], `${name}=${value}`);
  });

  it('says of every variable what it means', () => {
    for (const [name, schema] of Object.entries(VARIABLES)) assert((schema.description ?? '').length > 10, name);
  });

  it('arms a failpoint by its name and passing', () => {
    assert.deepEqual(readConfig({ ...required(), ...LEAST, FAILPOINT: 'after_commit:3' }).FAILPOINT, {
      name: 'after_commit',
      passing: 3,
    });
    assert.deepEqual(readConfig({ ...required(), ...LEAST, FAILPOINT: 'before_lock' }).FAILPOINT, {
      name: 'before_lock',
      passing: 1,
    });
  });
});

/** What later versions ask for beside: keys in the same form. */
function required(): Record<string, string> {
  return Object.fromEntries(faultsOf({}).map((name) => [name, `one:${KEY}`]));
}

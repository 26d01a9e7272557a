import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, readMigrationConfig } from '../../src/config/config.js';
import { mysqlTls } from '../../src/config/servers.js';
import { parseMysqlUrl, withDatabase } from '../../src/db/servers.js';
import { makeAuthority, makeCertificate } from '../helpers/certificates.js';

const URL = 'mysql://app:secret@db.example:3306/money';
const authority = makeAuthority('the authority');
const one = makeCertificate({ subject: 'one' }, authority);
const other = makeCertificate({ subject: 'other' }, authority);

const read = (environment: Record<string, string>): ReturnType<typeof readMigrationConfig> =>
  readMigrationConfig({ MYSQL_URL: URL, MYSQL_ADMIN_URL: URL, ...environment });

function faultsOf(environment: Record<string, string>): string {
  try {
    read(environment);
    return '';
  } catch (error) {
    assert(error instanceof ConfigError);
    return error.message;
  }
}

describe('the MySQL URL', () => {
  it('names one host or several, by name or address, each with its port or the usual one', () => {
    assert.deepEqual(parseMysqlUrl('mysql://a:b%40c@one,two:3307,[::1]:3308,10.0.0.1/money'), {
      servers: [
        { host: 'one', port: 3306 },
        { host: 'two', port: 3307 },
        { host: '::1', port: 3308 },
        { host: '10.0.0.1', port: 3306 },
      ],
      user: 'a',
      password: 'b@c',
      database: 'money',
    });
    assert.equal(withDatabase('mysql://a:b@one,two:1/x', 'y'), 'mysql://a:b@one,two:1/y');
  });

  it('accepts no other scheme and no options', () => {
    for (const url of [
      '',
      'http://a:b@c/d',
      'mysql://a:b@/d',
      'mysql://a:b@one,,two/d',
      'mysql://a:b@one:x/d',
      `${URL}?ssl={}`,
    ])
      assert.match(
        faultsOf({ MYSQL_URL: url }),
        url === '' ? /MYSQL_URL: is not set/ : /MYSQL_URL: must be/,
        url,
      );
    assert.match(faultsOf({ MYSQL_URL: 'mysql://a:b@one/' }), /plain name/);
  });
});

describe('TLS with MySQL', () => {
  it('requires names instead of addresses, for which no certificate is checked', () => {
    const faults = faultsOf({ MYSQL_TLS: 'on', MYSQL_URL: 'mysql://a:b@10.0.0.1,two/money' });
    assert.match(faults, /MYSQL_URL: with MYSQL_TLS on, 10\.0\.0\.1 must be a name/);
  });

  it('refuses a certificate without its key, a key that does not match, and text that is not PEM', () => {
    const { cert, key } = one;
    const withPair = (certificate: string, own: string): string =>
      faultsOf({ MYSQL_TLS: 'on', MYSQL_TLS_CERTIFICATE: certificate, MYSQL_TLS_KEY: own });
    assert.equal(withPair(cert, key), '');
    assert.match(faultsOf({ MYSQL_TLS: 'on', MYSQL_TLS_CERTIFICATE: cert }), /needs its key/);
    assert.match(withPair(cert, other.key), /MYSQL_TLS_CERTIFICATE/);
    assert.match(withPair('x', key), /MYSQL_TLS_CERTIFICATE: must be in PEM/);
    assert.equal(withPair(cert, other.key).includes(other.key.slice(40, 80)), false);
  });

  it('a certificate for TLS with MySQL is read from its file again each time', () => {
    const folder = mkdtempSync(join(tmpdir(), 'money-pem-'));
    const file = join(folder, 'ca.pem');
    writeFileSync(file, authority.cert);
    const tls = mysqlTls(read({ MYSQL_TLS: 'on', MYSQL_TLS_CA_FILE: file }));
    const next = makeAuthority('another');
    writeFileSync(file, next.cert);
    assert.equal(tls?.ca?.(), next.cert.trimEnd());
    rmSync(folder, { recursive: true });
    assert.match(
      faultsOf({ MYSQL_TLS: 'on', MYSQL_TLS_CA_FILE: file }),
      /MYSQL_TLS_CA_FILE: .* cannot be read/,
    );
  });
});

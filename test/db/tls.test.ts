import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import type { Database } from '../../src/db/database.js';
import { DatabaseUnavailable } from '../../src/db/failures.js';
import { migrate } from '../../src/db/migrate.js';
import type { TlsMaterial } from '../../src/db/servers.js';
import {
  type Authority,
  type Certificate,
  makeAuthority,
  makeCertificate,
} from '../helpers/certificates.js';
import { openDatabase } from '../helpers/database.js';
import { PrivateMysql } from '../helpers/private-mysql.js';

const NAME = 'money_tls';
const PASSWORD = 'test-only';
const YESTERDAY = new Date(Date.now() - 86_400_000);
const BEFORE = new Date(Date.now() - 2 * 86_400_000);

describe('TLS with MySQL', () => {
  let mysql: PrivateMysql;
  const authority = makeAuthority('the authority');
  const client = makeCertificate({ subject: 'the service' }, authority);
  const opened: Database[] = [];

  before(async function () {
    if (!PrivateMysql.isPossible) this.skip();
    mysql = await PrivateMysql.start(async (folder) => {
      await writeServer(folder, serverOf(authority), authority);
      return ['ca', 'cert', 'key'].map(
        (what) => `--ssl-${what}=${join(folder, `server-${what}.pem`)}`,
      );
    });
    await admin(
      `CREATE DATABASE ${NAME} CHARACTER SET utf8mb4`,
      `CREATE USER '${NAME}'@'%' IDENTIFIED BY '${PASSWORD}' REQUIRE X509`,
      `CREATE USER 'migrator'@'%' IDENTIFIED BY '${PASSWORD}' REQUIRE X509`,
      "GRANT ALL ON *.* TO 'migrator'@'%' WITH GRANT OPTION",
    );
    await migrate({
      adminUrl: url('migrator', ''),
      url: url(NAME),
      tls: material(authority, client),
    });
  });

  after(async () => {
    if (PrivateMysql.isPossible) await mysql.remove();
  });
  afterEach(() => Promise.all(opened.splice(0).map((database) => database.close())));

  const serverOf = (signer: Authority, wanted: object = {}): Certificate =>
    makeCertificate({ subject: 'mysql', names: ['localhost'], ...wanted }, signer);

  /** The files that the server's options name. */
  async function writeServer(folder: string, own: Certificate, believed: Authority): Promise<void> {
    await writeFile(join(folder, 'server-ca.pem'), believed.cert);
    await writeFile(join(folder, 'server-cert.pem'), own.cert);
    await writeFile(join(folder, 'server-key.pem'), own.key);
  }

  const url = (user: string, database = NAME, host = 'localhost'): string =>
    `mysql://${user}:${PASSWORD}@${host}:${mysql.port}/${database}`;

  const material = (believed: Authority, own?: Certificate): TlsMaterial => ({
    ca: () => believed.cert,
    ...(own === undefined ? {} : { certificate: () => own.cert, key: () => own.key }),
  });

  async function admin(...statements: readonly string[]): Promise<RowDataPacket[]> {
    const connection = await createConnection({ uri: mysql.adminUrl });
    let rows: RowDataPacket[] = [];
    for (const statement of statements)
      rows = (await connection.query<RowDataPacket[]>(statement))[0];
    await connection.end();
    return rows;
  }

  /** Another server certificate from now on. */
  async function becomes(own: Certificate, believed = authority): Promise<void> {
    await writeServer(mysql.folder, own, believed);
    // MariaDB's word for it, and MySQL's.
    await admin('FLUSH SSL').catch(() => admin('ALTER INSTANCE RELOAD TLS'));
  }

  /** Nothing of the service stays connected, the watching of the server neither. */
  async function disconnectAll(): Promise<void> {
    const rows = await admin(
      `SELECT ID AS id FROM information_schema.PROCESSLIST WHERE USER='${NAME}'`,
    );
    await admin(...rows.map(({ id }) => `KILL ${String(id)}`));
  }

  function over(tls: TlsMaterial | null, host = 'localhost'): Database {
    const database = openDatabase(url(NAME, NAME, host), { tls });
    opened.push(database);
    return database;
  }

  const cipherOf = async (database: Database): Promise<string> =>
    String((await database.reader.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'"))[0]?.Value);

  it('every connection is encrypted, and the migrations have run over it', async () => {
    const database = over(material(authority, client));
    assert.match(await cipherOf(database), /^(TLS_)?AES/);
    await database.withTransaction(async (transaction) => {
      assert.match(
        String((await transaction.query("SHOW SESSION STATUS LIKE 'Ssl_cipher'"))[0]?.Value),
        /AES/,
      );
    });
    assert.deepEqual(await database.reader.query('SELECT id FROM tenants'), []);
  });

  it('a server signed by another authority, or with another name, is refused', async () => {
    await assert.rejects(
      cipherOf(over(material(makeAuthority('another'), client))),
      isRefused(/certificate/),
    );
    await becomes(serverOf(authority, { names: ['mysql.example'] }));
    await assert.rejects(cipherOf(over(material(authority, client))), isRefused(/does not match/));
    await becomes(serverOf(authority));
  });

  it('a server with an expired certificate is refused', async () => {
    await becomes(serverOf(authority, { notBefore: BEFORE, notAfter: YESTERDAY }));
    await assert.rejects(cipherOf(over(material(authority, client))), isRefused(/expired/));
    await becomes(serverOf(authority));
  });

  it('the service is refused without a certificate of its own, or with an expired one', async () => {
    await assert.rejects(cipherOf(over(material(authority))), DatabaseUnavailable);
    const old = makeCertificate(
      { subject: 'the service', notBefore: BEFORE, notAfter: YESTERDAY },
      authority,
    );
    await assert.rejects(cipherOf(over(material(authority, old))), DatabaseUnavailable);
    await assert.rejects(cipherOf(over(null)), DatabaseUnavailable);
  });

  it('a server that offers no TLS is refused', async () => {
    const plain = await PrivateMysql.start(() => Promise.resolve(['--skip-ssl']));
    try {
      const database = openDatabase(plain.adminUrl.replace('127.0.0.1', 'localhost') + 'mysql', {
        tls: material(authority),
      });
      opened.push(database);
      await assert.rejects(database.reader.query('SELECT 1'), DatabaseUnavailable);
    } finally {
      await plain.remove();
    }
  });

  it('certificates for TLS with MySQL that are renewed on both sides, even by another authority, are picked up while the process runs', async () => {
    const files = ['ca', 'certificate', 'key'].map((what) =>
      join(mysql.folder, `client-${what}.pem`),
    );
    const write = async (believed: string, own: Certificate): Promise<void> => {
      for (const [index, text] of [believed, own.cert, own.key].entries())
        await writeFile(files[index]!, text);
    };
    const [ca, certificate, key] = files.map((file) => () => readFileSync(file, 'utf8'));
    await write(authority.cert, client);
    const database = over({ ca, certificate, key });
    assert.match(await cipherOf(database), /AES/);
    // Half of a pair: what was read before is used on.
    const next = makeAuthority('the next authority');
    const renewed = makeCertificate({ subject: 'the service' }, next);
    await writeFile(files[1]!, renewed.cert);
    await disconnectAll();
    assert.match(await cipherOf(database), /AES/);
    await write(next.cert, renewed);
    await becomes(serverOf(next), next);
    await disconnectAll();
    assert.match(await cipherOf(database), /AES/);
    await becomes(serverOf(authority));
  });
});

function isRefused(reason: RegExp): (failure: unknown) => boolean {
  return (failure) => failure instanceof DatabaseUnavailable && reason.test(failure.message);
}

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { TemporalClient } from '../../src/temporal/client.js';
import { TemporalUnavailable } from '../../src/temporal/failures.js';
import type { TemporalTls } from '../../src/temporal/connection-options.js';
import {
  type Authority,
  type Certificate,
  makeAuthority,
  makeCertificate,
} from '../helpers/certificates.js';
import { testDatabase } from '../helpers/database.js';
import { testTemporal, until } from '../helpers/temporal.js';
import { TlsFront } from '../helpers/tls-front.js';
import { WorkerProcess } from '../helpers/worker-process.js';

const NAME = 'temporal.example';
const RENEWED_MS = 30_000;

const temporal = await testTemporal();

describe('TLS with Temporal', () => {
  let front: TlsFront;
  let folder: string;
  const authority = makeAuthority('the authority');
  const client = makeCertificate({ subject: 'the service' }, authority);
  const next = makeAuthority('the next authority');
  const renewed = makeCertificate({ subject: 'the service, renewed' }, next);

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'money-temporal-tls-'));
    const port = Number.parseInt(temporal.address.split(':')[1] ?? '', 10);
    front = await TlsFront.open(port, contextOf(authority), ['h2']);
  });

  after(async () => {
    await front.close();
    await rm(folder, { recursive: true });
  });

  beforeEach(() => front.become(contextOf(authority)));

  function contextOf(signer: Authority, wanted: object = {}): SecureContextOptions {
    const { cert, key } = makeCertificate(
      { subject: 'temporal', names: [NAME], ...wanted },
      signer,
    );
    return { ca: signer.cert, cert, key };
  }

  const material = (believed: Authority, own?: Certificate): TemporalTls => ({
    ca: () => believed.cert,
    serverName: NAME,
    ...(own === undefined ? {} : { certificate: () => own.cert, key: () => own.key }),
  });

  /** The question of a client of its own: no running client could be told to ask it. */
  async function ask(tls: TemporalTls | null): Promise<void> {
    const { namespace } = temporal;
    const asking = new TemporalClient({ address: `127.0.0.1:${front.port}`, namespace, tls });
    try {
      await asking.notifyWorkflow('transfer/nobody');
    } finally {
      await asking.close();
    }
  }

  it('works for clients that trust the authority and have a certificate', () =>
    ask(material(authority, client)));

  it('a server of Temporal signed by another authority or with another name is refused', async () => {
    await assert.rejects(ask(material(next, client)), TemporalUnavailable);
    await assert.rejects(
      ask({ ...material(authority, client), serverName: undefined }),
      TemporalUnavailable,
    );
  });

  const fileOf = (what: string): string => join(folder, `${what}.pem`);

  async function write(believed: Authority, own: Certificate): Promise<void> {
    await writeFile(fileOf('ca'), believed.cert);
    await writeFile(fileOf('certificate'), own.cert);
    await writeFile(fileOf('key'), own.key);
  }

  it('renewed certificates for TLS with Temporal are picked up by running workers', async () => {
    await write(authority, client);
    const db = await testDatabase();
    const behind = { address: `127.0.0.1:${front.port}`, namespace: temporal.namespace };
    const worker = await WorkerProcess.start(db.url, behind, {
      TEMPORAL_TLS: 'on',
      TEMPORAL_TLS_SERVER_NAME: NAME,
      TEMPORAL_TLS_CA_FILE: fileOf('ca'),
      TEMPORAL_TLS_CERTIFICATE_FILE: fileOf('certificate'),
      TEMPORAL_TLS_KEY_FILE: fileOf('key'),
      LOG_LEVEL: 'info',
    });
    try {
      front.become(contextOf(next));
      await write(next, renewed);
      const isRenewed = (): Promise<boolean> =>
        Promise.resolve(worker.output.includes('use renewed certificates'));
      await until('the workers have the renewed certificates', isRenewed, { limitMs: RENEWED_MS });
      await until('they poll with them', () =>
        Promise.resolve(front.peers.has('the service, renewed')),
      );
      assert.equal(await worker.stop(), 0);
    } finally {
      await worker.kill();
    }
  });
});

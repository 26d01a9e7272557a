import {
  Client,
  Connection,
  type ConnectionOptions,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import { findTlsFault, type TlsMaterial } from '../db/servers.js';

export interface TemporalTls extends TlsMaterial {
  /** Name in the server's certificate, if it differs from the host in the address. */
  readonly serverName?: string | undefined;
}

export interface TemporalOptions {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  /** Null means no TLS. A certificate with its key enables mutual TLS. */
  readonly tls: TemporalTls | null;
  readonly apiKey?: string | undefined;
}

type SharedOptions = Pick<ConnectionOptions, 'address' | 'tls'> & { readonly apiKey?: string };

/** Returns the client's options, with the certificates as they are in the files now. */
export function connectionOptions({ address, tls, apiKey }: TemporalOptions): SharedOptions {
  const base = { address, ...(apiKey === undefined ? {} : { apiKey }) };
  if (tls === null) return base;
  const { ca, certificate, key, serverName } = tls;
  const pair =
    certificate === undefined || key === undefined
      ? {}
      : { clientCertPair: { crt: Buffer.from(certificate()), key: Buffer.from(key()) } };
  return {
    ...base,
    tls: {
      ...(ca === undefined ? {} : { serverRootCACertificate: Buffer.from(ca()) }),
      ...pair,
      ...(serverName === undefined ? {} : { serverNameOverride: serverName }),
    },
  };
}

const CHECK_EVERY_MS = 5_000;

/** Detects changes of a connection's certificates, and reports each change once. */
export class CertificateRenewals {
  private lastText: string;
  private checkedAt = performance.now();

  constructor(private readonly tls: TemporalTls | null) {
    this.lastText = textOf(tls);
  }

  /** Returns true once for each change, after the new certificate and key match. */
  isDue(): boolean {
    if (this.tls === null || performance.now() - this.checkedAt < CHECK_EVERY_MS) return false;
    this.checkedAt = performance.now();
    try {
      const text = textOf(this.tls);
      if (text === this.lastText || findTlsFault(this.tls) !== null) return false;
      this.lastText = text;
      return true;
    } catch {
      return false;
    }
  }
}

function textOf(tls: TemporalTls | null): string {
  return JSON.stringify([tls?.ca?.(), tls?.certificate?.(), tls?.key?.()]);
}

/** Closes only after its calls, because the SDK's retries throw uncatchable errors once it is closed. */
export class OpenConnection {
  readonly connection: Connection;
  readonly client: Client;
  private readonly calls = new Set<Promise<unknown>>();

  constructor(options: TemporalOptions, interceptors: readonly WorkflowClientInterceptor[]) {
    this.connection = Connection.lazy(connectionOptions(options));
    const { namespace } = options;
    this.client = new Client({
      connection: this.connection,
      namespace,
      interceptors: { workflow: [...interceptors] },
    });
  }

  async within<T>(deadlineMs: number, call: (open: OpenConnection) => Promise<T>): Promise<T> {
    const calling = this.connection.withDeadline(Date.now() + deadlineMs, () => call(this));
    this.calls.add(calling);
    try {
      return await calling;
    } finally {
      this.calls.delete(calling);
      // The SDK's storage of deadlines makes every promise of the process slower while it is enabled.
      if (this.calls.size === 0) this.connection.callContextStorage.disable();
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.calls);
    await this.connection.close();
  }
}

import type { ConnectionOptions } from '@temporalio/client';
import { faultOfMaterial, type TlsMaterial } from '../db/servers.js';

/** How the service connects to Temporal, the client and the workers alike. */

export interface TemporalTls extends TlsMaterial {
  /** The name in the server's certificate, where it is not the host of the address. */
  readonly serverName?: string | undefined;
}

export interface TemporalOptions {
  /** `host:port` */
  readonly address: string;
  readonly namespace: string;
  /** Null: no TLS. With certificate and key: mutual TLS. */
  readonly tls: TemporalTls | null;
  readonly apiKey?: string | undefined;
}

type SharedOptions = Pick<ConnectionOptions, 'address' | 'tls'> & { readonly apiKey?: string };

/** The connection options that client and worker share, with what the files hold now. */
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

/** How often renewed certificates are looked for. */
const LOOK_EVERY_MS = 5_000;

/** Tells once of each change of what a connection was made of. */
export class Renewals {
  private known: string;
  private lookedAt = performance.now();

  constructor(private readonly tls: TemporalTls | null) {
    this.known = textOf(tls);
  }

  /** False too while the files are being replaced and do not fit one another. */
  isDue(): boolean {
    if (this.tls === null || performance.now() - this.lookedAt < LOOK_EVERY_MS) return false;
    this.lookedAt = performance.now();
    try {
      const text = textOf(this.tls);
      if (text === this.known || faultOfMaterial(this.tls) !== null) return false;
      this.known = text;
      return true;
    } catch {
      return false;
    }
  }
}

function textOf(tls: TemporalTls | null): string {
  return JSON.stringify([tls?.ca?.(), tls?.certificate?.(), tls?.key?.()]);
}

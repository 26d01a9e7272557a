import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { ConnectionOptions } from 'mysql2';

export interface MysqlServer {
  readonly host: string;
  readonly port: number;
}

export interface MysqlAddress {
  readonly servers: readonly MysqlServer[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

const ADDRESS = /^mysql:\/\/(?:([^:@/]*)(?::(.*))?@)?([^@/?#]+)(?:\/([^/?#]*))?$/;
const SERVER = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/;
const DEFAULT_PORT = '3306';

/** Returns null unless the text is `mysql://user:password@host:port,host:port/database`. */
export function parseMysqlUrl(text: string): MysqlAddress | null {
  const [, user = '', password = '', hosts = '', database = ''] = ADDRESS.exec(text) ?? [];
  const servers = hosts.split(',').flatMap((one): MysqlServer[] => {
    const [, host, port = DEFAULT_PORT] = SERVER.exec(one) ?? [];
    return host === undefined
      ? []
      : [{ host: host.replace(/^\[|\]$/g, ''), port: Number.parseInt(port, 10) }];
  });
  if (hosts === '' || servers.length < hosts.split(',').length) return null;
  try {
    return {
      servers,
      user: decodeURIComponent(user),
      password: decodeURIComponent(password),
      database,
    };
  } catch {
    return null;
  }
}

/** Throws an Error if the text is not an address. */
export function mysqlAddress(url: string): MysqlAddress {
  const address = parseMysqlUrl(url);
  if (address === null)
    throw new Error('a URL of MySQL must look like mysql://user:password@host:port/database');
  return address;
}

/** Returns the URL with another database, or with none if `database` is empty. */
export function withDatabase(url: string, database: string): string {
  const [, user, password, hosts = ''] = ADDRESS.exec(url) ?? [];
  const login = user === undefined ? '' : `${user}${password === undefined ? '' : `:${password}`}@`;
  return `mysql://${login}${hosts}/${database}`;
}

/** Functions that return PEM texts, called again for each use, so that renewed files take effect. */
export interface TlsMaterial {
  /** Trusted certificate authorities. Node's if absent. */
  readonly ca?: (() => string) | undefined;
  /** This process's certificate, if the server asks for one. */
  readonly certificate?: (() => string) | undefined;
  readonly key?: (() => string) | undefined;
}

/** Returns a description of the fault in the material, or null. A certificate needs its own key. */
export function findTlsFault(material: TlsMaterial): string | null {
  if ((material.certificate === undefined) !== (material.key === undefined))
    return 'a client certificate needs its key, and a client key its certificate';
  try {
    createSecureContext(readMaterial(material));
    return null;
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
}

/** Returns the hosts that are IP addresses. Their certificates cannot be verified by name. */
export function ipAddressHosts(url: string): string[] {
  return (parseMysqlUrl(url)?.servers ?? []).flatMap(({ host }) =>
    isIP(host) === 0 ? [] : [host],
  );
}

interface ReadMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

function readMaterial({ ca, certificate, key }: TlsMaterial): ReadMaterial {
  return {
    ...(ca === undefined ? {} : { ca: ca() }),
    ...(certificate === undefined ? {} : { cert: certificate() }),
    ...(key === undefined ? {} : { key: key() }),
  };
}

export class MysqlTls {
  readonly ssl: ConnectionOptions['ssl'] & object;

  constructor(private readonly material: TlsMaterial) {
    this.ssl = {
      ...readMaterial(material),
      rejectUnauthorized: true,
      verifyIdentity: true,
      minVersion: 'TLSv1.2',
    };
  }

  /** Reads the files again. While certificate and key do not match, the previous ones stay in use. */
  refresh(): void {
    try {
      const read = readMaterial(this.material);
      const { ca, cert, key } = this.ssl;
      if (read.ca === ca && read.cert === cert && read.key === key) return;
      createSecureContext(read);
      Object.assign(this.ssl, read);
    } catch {
      return;
    }
  }
}

const CONNECT_TIMEOUT_MS = 2_000;

export function connectOptions(
  address: MysqlAddress,
  server: MysqlServer,
  tls: MysqlTls | null,
): ConnectionOptions {
  const { user, password, database } = address;
  return {
    ...server,
    user,
    password,
    ...(database === '' ? {} : { database }),
    ...(tls === null ? {} : { ssl: tls.ssl }),
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableKeepAlive: true,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    dateStrings: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
  };
}

import { z } from 'zod';
import { mysqlDatabaseUrl, pem } from './values.js';
import { faultOfMaterial, hostsWithoutName, type TlsMaterial } from '../db/servers.js';

export const MYSQL_VARIABLES = {
  MYSQL_URL: mysqlDatabaseUrl.describe(
    'the application user: mysql://user:password@host:port/database; for a group, every server, comma-separated',
  ),
  MYSQL_TLS: z
    .enum(['on', 'off'])
    .default('off')
    .describe('on: use TLS with MySQL and verify its certificate'),
  MYSQL_TLS_CA: pem
    .optional()
    .describe("certificate authority of MySQL, PEM; by default Node's own"),
  MYSQL_TLS_CERTIFICATE: pem.optional().describe('client certificate for MySQL, PEM'),
  MYSQL_TLS_KEY: pem.optional().describe('secret: key of the client certificate for MySQL, PEM'),
} as const;

export type MysqlConfig = Readonly<z.infer<z.ZodObject<typeof MYSQL_VARIABLES>>>;
type MysqlTlsConfig = Omit<MysqlConfig, 'MYSQL_URL'>;

export function mysqlTls(config: MysqlTlsConfig): TlsMaterial | null {
  const { MYSQL_TLS_CA: ca, MYSQL_TLS_CERTIFICATE: certificate, MYSQL_TLS_KEY: key } = config;
  return config.MYSQL_TLS === 'off' ? null : { ca, certificate, key };
}

export function mysqlFaults(
  config: MysqlConfig & { readonly MYSQL_ADMIN_URL?: string | undefined },
): string[] {
  const material = mysqlTls(config);
  if (material === null) return [];
  const fault = faultOfMaterial(material);
  const { MYSQL_URL, MYSQL_ADMIN_URL = '' } = config;
  const unnamed = Object.entries({ MYSQL_URL, MYSQL_ADMIN_URL }).flatMap(([name, url]) =>
    hostsWithoutName(url).map(
      (host) => `  ${name}: with MYSQL_TLS ${host} must be a name that its certificate has`,
    ),
  );
  return [...(fault === null ? [] : [`  MYSQL_TLS_CERTIFICATE: ${fault}`]), ...unnamed];
}

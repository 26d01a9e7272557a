import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readJson, writePrivateJson } from './files.mjs';

const makers = {
  mysql_admin_password: () => randomBytes(18).toString('base64url'),
  mysql_app_password: () => randomBytes(18).toString('base64url'),
  fingerprint_keys: () => `k1:${randomBytes(32).toString('base64')}`,
  cursor_keys: () => `k1:${randomBytes(32).toString('base64')}`,
  encryption_keys: () => `k1:${randomBytes(32).toString('base64')}`,
};

/** The random secrets of a folder of servers, generated once and stored with them. */
export function loadSecrets(folder) {
  const path = join(folder, 'secrets.json');
  const kept = readJson(path) ?? {};
  const missing = Object.keys(makers).filter((name) => !(name in kept));
  for (const name of missing) kept[name] = makers[name]();
  if (missing.length > 0) writePrivateJson(path, kept);
  return kept;
}

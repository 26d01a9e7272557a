import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canInstall, install } from './apt.mjs';
import { ROOT } from './paths.mjs';
import { answersOk } from './ports.mjs';
import { say, UserError } from './progress.mjs';
import { findProgram } from './run.mjs';

const FOLDER = join(ROOT, 'deploy/haproxy');
const NONE = 'There is no HAProxy on this machine';

/** Returns this machine's HAProxy, installed first if that needs no password. Undefined if it is missing. */
export async function findHaproxy() {
  const known = process.env.HAPROXY_BIN || findProgram('haproxy');
  if (known) return known;
  if (canInstall()) {
    await install('Installing HAProxy (apt-get)', 'HAProxy could not be installed', [
      'haproxy',
    ]).catch((error) => say(`  ${error.message}`));
  }
  return findProgram('haproxy');
}

/** Finds HAProxy, or throws if it is missing. */
export async function requireHaproxy() {
  const program = await findHaproxy();
  if (program) return program;
  throw new UserError(`${NONE}: install it (Debian: apt-get install haproxy), or set HAPROXY_BIN.`);
}

/**
 * deploy/haproxy/haproxy.cfg, changed only in where it listens, its servers (`servers`: `{name, port, adminPort}` on
 * the loopback address, instead of Docker's names), and the location of its files.
 */
export function haproxyConfig({ port, servers }) {
  const own = servers.map(
    ({ name, port: at, adminPort }) => `  server ${name} 127.0.0.1:${at} port ${adminPort}`,
  );
  const text = readFileSync(join(FOLDER, 'haproxy.cfg'), 'utf8');
  const changed = text
    .replace(/^resolvers names\n(?: .*\n)+/m, '')
    .replace(/^ {2}server-template .*$/m, own.join('\n'))
    .replace(/^ {2}bind :8080$/m, `  bind 127.0.0.1:${port}`)
    .replaceAll('/usr/local/etc/haproxy', FOLDER);
  if (/resolvers|server-template|bind :/.test(changed))
    throw new Error('haproxy.cfg has lines that could not be replaced: adapt haproxyConfig');
  return changed;
}

/** The part in front of these API processes; its configuration is written to `folder`. */
export function haproxyPart(program, { folder, port, servers, log }) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, haproxyConfig({ port, servers }));
  return {
    name: 'proxy',
    command: program,
    // `-db` keeps HAProxy in the foreground.
    args: ['-db', '-f', file],
    log,
    // A path that the API does not know; without an API the proxy itself answers 503.
    isReady: () => answersOk(`http://127.0.0.1:${port}/`, 404),
    readyMs: 10_000,
    stopMs: 10_000,
  };
}

import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { UserError } from './progress.mjs';

const KEPT_LINES = 25;

/** Servers are in sbin, which is not on an ordinary user's PATH, and Homebrew does not link older versions into its bin. */
const HOMEBREW_SERVERS = ['mysql', 'mysql@8.4', 'mysql@8.0', 'mariadb'];
const MORE_PLACES = [
  ...[
    '/usr/sbin',
    '/usr/local/sbin',
    '/usr/local/bin',
    '/usr/local/mysql/bin',
    '/opt/homebrew/bin',
  ],
  ...['/opt/homebrew', '/usr/local'].flatMap((brew) =>
    HOMEBREW_SERVERS.map((name) => `${brew}/opt/${name}/bin`),
  ),
];

const commands = new Set();

/** The full path of the first of these programs that exists. */
export function findProgram(...names) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...MORE_PLACES].filter(Boolean);
  for (const name of names) {
    for (const folder of folders) {
      try {
        accessSync(join(folder, name), constants.X_OK);
        return join(folder, name);
      } catch {
        // This folder does not have the program.
      }
    }
  }
  return undefined;
}

/**
 * Runs a command to its end and returns its stdout. Each line of either stream is also passed to `onLine`. On failure throws
 * a UserError that begins with `failure` and ends with the last lines.
 */
export function run(command, args, { failure, onLine = () => {}, ...options }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
    commands.add(child);
    let stdout = '';
    const lines = [];
    const collect = (stream, keep) => {
      stream.setEncoding('utf8');
      stream.on('data', (chunk) => {
        if (keep) stdout += chunk;
        for (const line of chunk.split(/[\r\n]+/).filter(Boolean)) {
          lines.push(line);
          onLine(line);
        }
        lines.splice(0, lines.length - KEPT_LINES);
      });
    };
    collect(child.stdout, true);
    collect(child.stderr, false);
    const fail = (reason) =>
      reject(new UserError([`${failure} (${reason}).`, ...lines].join('\n  ')));
    child.once('error', (error) => fail(error.message));
    child.once('close', (code, signal) => {
      commands.delete(child);
      if (code === 0) resolve(stdout);
      else fail(signal ?? `exit code ${code}`);
    });
  });
}

/** Ends the commands that are still running. */
export function endCommands() {
  for (const child of commands) child.kill('SIGTERM');
}

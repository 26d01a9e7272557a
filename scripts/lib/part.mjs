import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from './paths.mjs';
import { UserError } from './progress.mjs';

const POLL_MS = 50;
const TAIL_LINES = 15;

/**
 * A part is a process that keeps running: `{name, command, args, env, log, isReady, readyMs, stopMs}`. It gets its own
 * process group, so that Ctrl-C reaches only the script, which then stops the parts in order.
 */
export function spawnPart(part) {
  mkdirSync(dirname(part.log), { recursive: true });
  const log = openSync(part.log, 'a');
  const child = spawn(part.command, part.args, {
    cwd: ROOT,
    env: part.env ?? process.env,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`));
  });
  return { child, ended };
}

/**
 * Waits until the part answers. Throws a UserError with the end of its log if it ends or takes longer than `readyMs`.
 */
export async function untilReady(part, ended) {
  let reason;
  void ended.then((how) => (reason = `ended (${how})`));
  const deadline = Date.now() + part.readyMs;
  while (!(await part.isReady())) {
    if (Date.now() > deadline) reason ??= `did not answer within ${part.readyMs / 1000} s`;
    if (reason)
      throw new UserError(
        `${part.name} ${reason}. The end of ${relative(ROOT, part.log)}:\n${tail(part.log)}`,
      );
    await sleep(POLL_MS);
  }
}

function tail(path) {
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  return lines
    .slice(-TAIL_LINES)
    .map((line) => `  ${line.slice(0, 400)}`)
    .join('\n');
}

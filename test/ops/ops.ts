import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { Json } from '../helpers/bank.js';
import { outputOf, type Ran } from '../helpers/child-output.js';
import { tieToThisProcess } from '../helpers/test-program.js';
import type { AskedRun } from './resident-ops.js';

export type { Ran };

/** Splits a command line. Text in quotation marks and an inserted value are one word each; an inserted list is several. */
export function words(
  parts: TemplateStringsArray,
  ...values: readonly (string | bigint | readonly string[])[]
): string[] {
  const split = (part: string): string[] =>
    Array.from(part.matchAll(/'([^']*)'|\S+/g), ([word, quoted]) => quoted ?? word);
  return parts.flatMap((part, index) => {
    const value = values[index] ?? [];
    return [...split(part), ...(typeof value === 'object' ? value : [String(value)])];
  });
}

const OBJECT = z.record(z.string(), z.unknown());

/** The command line with these settings. */
export function commandLine(env: () => Record<string, string>) {
  const ops = (...args: readonly string[]): Promise<Ran> => run(COMMAND_LINE, args, env());
  /** Returns the JSON that a command printed, which must have succeeded. */
  const json = async (...args: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await ops(...args, '--json');
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const one = async (...args: readonly string[]): Promise<Json> =>
    OBJECT.parse(await json(...args));
  const rows = async (...args: readonly string[]): Promise<Json[]> =>
    z.array(OBJECT).parse(await json(...args));
  const fails = async (
    code: number,
    message: RegExp,
    ...args: readonly string[]
  ): Promise<void> => {
    const ran = await ops(...args);
    assert.deepEqual([ran.code, ran.stdout], [code, ''], ran.stderr);
    assert.match(ran.stderr, message);
    assert.doesNotMatch(ran.stderr, /\n\s+at /, 'a stack trace');
  };
  return { ops, json, one, rows, fails };
}

/** ENCRYPTION_KEYS of every test. */
export const TEST_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;

const COMMAND_LINE = 'src/ops/main.js';
let resident: { readonly child: ChildProcess; isBusy: boolean } | undefined;

/**
 * Runs one of our programs as its users do, without a terminal; `input` is the text of standard input. The command line
 * runs in a process that stays, unless that is busy.
 */
export async function run(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  input = '',
): Promise<Ran> {
  if (program !== COMMAND_LINE || resident?.isBusy === true)
    return runAnew(program, args, env, input);
  const own = (resident ??= { child: startResident(), isBusy: false });
  own.isBusy = true;
  const asked: AskedRun = { args, env: { PATH: process.env.PATH ?? '', ...env }, input };
  const ended = new AbortController();
  try {
    const { signal } = ended;
    const gone = once(own.child, 'exit', { signal }).then(() => {
      throw new Error('the command line has ended');
    });
    const answer = once(own.child, 'message', { signal });
    own.child.send(asked);
    const [ran] = (await Promise.race([answer, gone])) as [Ran];
    if (args.includes('--json')) assertJson(ran, args);
    return ran;
  } finally {
    ended.abort();
    own.isBusy = false;
  }
}

/** The command line on a machine whose clock is some hours ahead. */
export function runSetAhead(
  hours: number,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const setAhead = `const { now } = Date; Date.now = () => now() + ${hours} * 3_600_000`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(setAhead)}`;
  return runAnew(COMMAND_LINE, args, { ...env, NODE_OPTIONS }, '');
}

/** Standard output is for programs: one JSON value, a line of it for each thing where they go on, or nothing after a failure. */
function assertJson({ code, stdout }: Ran, args: readonly string[]): void {
  if (stdout === '' && code !== 0) return;
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const isWhole = isJson(stdout) || stdout.trimEnd().split('\n').every(isJson);
  assert.ok(isWhole, `${args.join(' ')} prints what is no JSON:\n${stdout}`);
}

/** Ends with this process, and keeps no process from ending. */
function startResident(): ChildProcess {
  const child = fork(fileURLToPath(new URL('resident-ops.js', import.meta.url)), {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  tieToThisProcess(child);
  child.once('exit', () => (resident = undefined));
  child.unref();
  child.channel?.unref();
  return child;
}

async function runAnew(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  input: string,
): Promise<Ran> {
  const file = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A program that ends without reading it is right to do so.
  child.stdin.on('error', () => undefined).end(input);
  return outputOf(child);
}

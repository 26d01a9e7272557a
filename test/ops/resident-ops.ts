import { Readable } from 'node:stream';
import { buildProgram, runCommand } from '../../src/ops/program.js';

/** The operators' command line in a process that stays: to load it takes longer than most of its commands. See ops.ts. */

export interface AskedRun {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly input: string;
}

async function runOnce({ args, env, input }: AskedRun): Promise<object> {
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    process[name].write = (piece: string | Uint8Array) => {
      text[name] += String(piece);
      return true;
    };
  Object.defineProperty(process, 'stdin', {
    value: Readable.from([input], { objectMode: false }),
    configurable: true,
  });
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, env);
  process.exitCode = undefined;
  const code = await runCommand(buildProgram(), [process.execPath, 'ops', ...args]);
  process.exitCode = undefined;
  return { code, ...text };
}

process.on('message', (asked: AskedRun) => void runOnce(asked).then((ran) => process.send?.(ran)));

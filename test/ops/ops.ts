import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** ENCRYPTION_KEYS of every test. */
export const TEST_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`;

/** Runs one of our programs as its users do, with nobody at the keyboard; `input` is what standard input holds. */
export async function run(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
  input = '',
): Promise<Ran> {
  const file = fileURLToPath(new URL(`../../${program}`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A program that ends without reading it is right to do so.
  child.stdin.on('error', () => undefined).end(input);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (piece: string) => (text[name] += piece));
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
  return { code, ...text };
}

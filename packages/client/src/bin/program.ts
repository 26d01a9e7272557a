import { isMoneyError } from '../errors.js';

/** The arguments are wrong. */
export class UsageError extends Error {}

const FAILED = 1;
const MISUSED = 2;

/**
 * Runs a program with its arguments. Exits with 0, with 1 if the API or the network failed, or with
 * 2 for wrong arguments.
 */
export async function program(
  usage: string,
  run: (args: string[]) => Promise<void>,
): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  try {
    await run(args);
  } catch (error) {
    const isMisuse = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
    if (!isMisuse && !isMoneyError(error)) throw error;
    process.stderr.write(
      `${error.message}${isMisuse ? '; --help says more' : ` (${error.code})`}\n`,
    );
    process.exitCode = isMisuse ? MISUSED : FAILED;
  }
}

/** Removes characters that could control a terminal from foreign text. */
export function plain(text: string): string {
  return text.replaceAll(/\p{C}+/gu, ' ').trim();
}

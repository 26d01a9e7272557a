import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { RowFailed } from '../row-failed.js';
import type { LoadJob, LoadResult } from './job.js';

const MAIN = fileURLToPath(new URL('./main.js', import.meta.url));

type GeneratorMessage = { readonly result: LoadResult } | { readonly fault: string };

/** Runs the load in a separate process. Throws RowFailed for any unexpected status and for broken connections. */
export async function runLoad(job: LoadJob): Promise<LoadResult> {
  const child = fork(MAIN, { execArgv: [] });
  const message = await new Promise<GeneratorMessage>((resolve) => {
    // The message is from our own program (main.ts).
    child.once('message', (message) => resolve(message as GeneratorMessage));
    child.once('exit', (code) => resolve({ fault: `the load generator ended with ${code}` }));
    child.send(job);
  });
  if ('fault' in message) throw new RowFailed(message.fault);
  const { result } = message;
  if (result.unexpected > 0)
    throw new RowFailed(
      `${result.unexpected} answers were not ${job.expectedStatus}; the first:\n${result.firstUnexpected}`,
    );
  if (result.latency.count === 0)
    throw new RowFailed('no request was answered in the measured time');
  return result;
}

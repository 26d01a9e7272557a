import { pino, type DestinationStream, type Logger } from 'pino';
import { errnoOf } from '../db/failures.js';

export type { Logger } from 'pino';

/** How long a line may wait in memory. */
const FLUSH_MS = 500;
const BUFFER_BYTES = 32 * 1024;

/** Lines that wait beyond this are dropped: a reader that stands still must not fill our memory. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** What the last lines may wait for a reader when the process ends. */
const LAST_FLUSH_MS = 1_000;

export interface Logging {
  readonly logger: Logger;
  /** Writes what still waits; for the end of the process, after which nothing is logged. */
  close(): Promise<void>;
}

/**
 * One JSON line for each thing said, gathered and written in the background: a log never holds up a request. `about` tells of each
 * line what it is said in the midst of: ids alone.
 */
export function createLogging(
  level: string,
  service: string,
  destination?: DestinationStream,
  about?: () => object,
): Logging {
  const mixin = about === undefined ? {} : { mixin: about };
  const options = { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime, ...mixin };
  if (destination !== undefined) return { logger: pino(options, destination), close: () => Promise.resolve() };
  const stream = pino.destination({
    ...{ fd: 1, sync: false, minLength: BUFFER_BYTES, maxWrite: 2 * BUFFER_BYTES, maxLength: MAX_WAITING_BYTES },
  });
  // Whoever read our output is gone: there is nobody to tell, and the service goes on.
  stream.on('error', () => undefined);
  const timer = setInterval(() => stream.flush(), FLUSH_MS);
  timer.unref();
  return { logger: pino(options, stream), close: () => closeStream(stream, timer) };
}

/** Not flushSync, nor what the stream does by itself at the exit: both try for ever when nobody reads. */
function closeStream(stream: ReturnType<typeof pino.destination>, timer: NodeJS.Timeout): Promise<void> {
  clearInterval(timer);
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(late);
      stream.destroy();
      resolve();
    };
    const late = setTimeout(done, LAST_FLUSH_MS);
    stream.once('close', done);
    stream.once('error', done);
    stream.end();
  });
}

export interface FaultDescription {
  readonly name: string;
  readonly errno: number | null;
  readonly message: string | null;
  readonly stack: string | null;
}

/** Their messages are the engine's and about our code; others may quote a statement, a body or a token. */
const ENGINE_ERRORS = new Set(['TypeError', 'RangeError', 'ReferenceError']);

/** What a log may hold of a fault: kind, number and where it came from. */
export function describeFault(fault: unknown): FaultDescription {
  if (!(fault instanceof Error)) return { name: typeof fault, errno: null, message: null, stack: null };
  const frames = (fault.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name: fault.name,
    errno: errnoOf(fault),
    message: ENGINE_ERRORS.has(fault.name) ? fault.message : null,
    stack: frames.slice(0, 12).join('\n'),
  };
}

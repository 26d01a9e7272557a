import { pino, type DestinationStream, type Logger } from 'pino';
import { errnoOf } from '../db/failures.js';

export type { Logger } from 'pino';

/** How long a line may wait in memory. */
const FLUSH_MS = 500;
const BUFFER_BYTES = 8 * 1024;

export interface Logging {
  readonly logger: Logger;
  /** Writes what still waits; for the end of the process. */
  flush(): void;
}

/** One JSON line for each thing said, gathered and written in the background: a log never holds up a request. */
export function createLogging(level: string, service: string, destination?: DestinationStream): Logging {
  const base = { service };
  const timestamp = pino.stdTimeFunctions.isoTime;
  if (destination !== undefined) return { logger: pino({ level, base, timestamp }, destination), flush: () => {} };
  const stream = pino.destination({ fd: 1, sync: false, minLength: BUFFER_BYTES });
  const timer = setInterval(() => stream.flush(), FLUSH_MS);
  timer.unref();
  const flush = (): void => {
    try {
      stream.flushSync();
    } catch {
      // The process ends and its output is already closed: there is nobody left to tell.
    }
  };
  process.once('exit', flush);
  return { logger: pino({ level, base, timestamp }, stream), flush };
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

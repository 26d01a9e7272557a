import { pino, type DestinationStream, type Logger } from 'pino';
import { currentTraceId } from '../core/trace.js';
import { errnoOf } from '../db/failures.js';

export type { Logger } from 'pino';

const FLUSH_MS = 500;
/** Lines are written when they have this length together, or after `FLUSH_MS`. */
const GATHERED_BYTES = 16_000;
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
const LAST_FLUSH_MS = 1_000;

export interface Logging {
  readonly logger: Logger;
  /** Writes the remaining lines; later lines are dropped. */
  close(): Promise<void>;
}

/** Writes JSON lines in the background. `about` adds context to each line, ids only. */
export function createLogging(
  level: string,
  service: string,
  destination?: DestinationStream,
  about?: () => object,
): Logging {
  const mixin = about === undefined ? {} : { mixin: about };
  const options = { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime, ...mixin };
  if (destination !== undefined)
    return { logger: pino(options, destination), close: () => Promise.resolve() };
  const stream = pino.destination({
    fd: 1,
    sync: false,
    maxLength: MAX_WAITING_BYTES,
    minLength: GATHERED_BYTES,
    periodicFlush: FLUSH_MS,
  });
  // The reader has closed the output; the service continues.
  stream.on('error', () => undefined);
  return { logger: pino(options, stream), close: () => closeStream(stream) };
}

/** Context of each line: the trace of the request or activity. */
export function traceOfLine(): object {
  const traceId = currentTraceId();
  return traceId === null ? {} : { traceId };
}

/** Does not call flushSync, which would retry forever if nothing reads the output. */
function closeStream(stream: ReturnType<typeof pino.destination>): Promise<void> {
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

/** Only these messages are logged: those of any other error may quote a statement or a token. */
const ENGINE_ERRORS = new Set(['TypeError', 'RangeError', 'ReferenceError']);

export function describeFault(fault: unknown) {
  if (!(fault instanceof Error))
    return { name: typeof fault, errno: null, message: null, stack: null };
  const frames = (fault.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return {
    name: fault.name,
    errno: errnoOf(fault),
    message: ENGINE_ERRORS.has(fault.name) ? fault.message : null,
    stack: frames.slice(0, 12).join('\n'),
  };
}

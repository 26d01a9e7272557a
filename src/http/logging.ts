import { pino, type DestinationStream, type Logger } from 'pino';
import { errnoOf } from '../db/failures.js';

export type { Logger } from 'pino';

/** How long a line waits in memory at most. */
const FLUSH_MS = 500;
const GATHERED_CHARS = 32 * 1024;

/** Lines beyond this are dropped, so that a stalled reader does not fill the memory. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** How long the last lines wait for a reader when the process ends. */
const LAST_FLUSH_MS = 1_000;

export interface Logging {
  readonly logger: Logger;
  /** Writes the remaining lines at the end of the process; later lines are dropped. */
  close(): Promise<void>;
}

/**
 * Creates the log: one JSON line per message, collected and written in the background, so that
 * logging never delays a request. `about` adds context to each line, ids only.
 */
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
  const flush = (): void => lines.flush();
  // Registered before pino's own listener, which writes the stream's content when the process
  // exits.
  process.once('exit', flush);
  const stream = pino.destination({ fd: 1, sync: false, maxLength: MAX_WAITING_BYTES });
  // The reader of the output has closed it; the service continues without a log.
  stream.on('error', () => undefined);
  const lines = new GatheredLines(stream);
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  const close = (): Promise<void> => {
    clearInterval(timer);
    process.off('exit', flush);
    flush();
    return closeStream(stream);
  };
  return { logger: pino(options, lines), close };
}

/**
 * Collects lines until there are enough to write. The stream could collect them, but measures all
 * collected lines again for each new line, which took a tenth of a transfer's time.
 */
class GatheredLines implements DestinationStream {
  private lines: string[] = [];
  private chars = 0;

  constructor(private readonly stream: DestinationStream) {}

  write(line: string): void {
    this.lines.push(line);
    this.chars += line.length;
    if (this.chars >= GATHERED_CHARS) this.flush();
  }

  flush(): void {
    if (this.chars > 0) this.stream.write(this.lines.join(''));
    this.lines = [];
    this.chars = 0;
  }
}

/** flushSync and the stream's own exit handler would retry forever without a reader. */
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

interface FaultDescription {
  readonly name: string;
  readonly errno: number | null;
  readonly message: string | null;
  readonly stack: string | null;
}

/**
 * Messages of these classes are about our code; messages of other errors may quote a statement, a
 * body or a token.
 */
const ENGINE_ERRORS = new Set(['TypeError', 'RangeError', 'ReferenceError']);

/** Returns what a log may contain of a fault: kind, number and origin. */
export function describeFault(fault: unknown): FaultDescription {
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

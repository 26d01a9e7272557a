import type { Parser } from 'csv-parse';
import { EventLoopYielder } from '../event-loop-yielder.js';

/** Writes at the rate that the parser accepts, which throws its own failures. */
export async function feed(
  parser: Parser,
  head: string,
  rest: AsyncGenerator<string>,
): Promise<void> {
  const turns = new EventLoopYielder();
  try {
    await written(parser, head);
    for await (const piece of rest) {
      if (parser.destroyed) return;
      await written(parser, piece);
      await turns.yieldIfDue();
    }
    parser.end();
  } catch (failure) {
    parser.destroy(failure instanceof Error ? failure : new Error(String(failure)));
  }
}

/** Resolves when the rows were taken, because buffered rows are lost if the parser fails. */
function written(parser: Parser, piece: string): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      parser.off('close', go);
      resolve();
    };
    parser.on('close', go);
    parser.write(piece, go);
  });
}

/** Converts each line break to one LF. */
export async function* withPlainBreaks(text: AsyncGenerator<string>): AsyncGenerator<string> {
  let held = '';
  for await (const piece of text) {
    const whole = held + piece;
    // A CR at the end may be half of a line break.
    held = whole.endsWith('\r') ? '\r' : '';
    yield whole.slice(0, whole.length - held.length).replace(/\r\n?/g, '\n');
  }
  if (held !== '') yield '\n';
}

import type { Uuid } from '../../core/ids.js';
import { beginSpan } from '../../core/trace.js';
import { Deadline } from '../../db/deadline.js';
import { UNKNOWN } from '../idempotency.js';
import type { Parkable } from './parking.js';
import type { Answer, Command, CommandKind } from './types.js';

export interface Waiting extends Parkable {
  /** Shared by commands submitted together. */
  readonly submission: symbol;
  answered: boolean;
}

/** The waiting command; it is answered once, and with "unknown" when its time is up. */
export function waitingFor<C extends Command, Row extends { readonly id: Uuid }>(
  kind: CommandKind<C, Row>,
  command: C,
  { submission, timeoutMs }: { readonly submission: symbol; readonly timeoutMs: number },
  resolve: (answer: Answer<Row>) => void,
): Waiting {
  const timer = setTimeout(() => waiting.answer(UNKNOWN), timeoutMs);
  const waiting: Waiting = {
    // The queue holds commands of every kind; each only gets back its own kind.
    kind: kind,
    command,
    submission,
    deadline: Deadline.afterMs(timeoutMs),
    answered: false,
    parked: false,
    span: beginSpan({ name: `desk ${kind.name}` }),
    answer: (answer) => {
      if (waiting.answered) return;
      waiting.answered = true;
      clearTimeout(timer);
      waiting.span?.tell({
        'desk.answer': answer.outcome.done ? 'done' : answer.outcome.refusal.code,
      });
      waiting.span?.end();
      resolve(answer as Answer<Row>);
    },
  };
  return waiting;
}

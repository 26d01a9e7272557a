import { parseArgs } from 'node:util';
import { UserError } from './progress.mjs';

/** Maximum number of processes of each kind. More do not help on one machine. */
export const MAX_PROCESSES = 8;

/** The options of `npm start`. Throws a UserError. */
export function readArguments() {
  const options = {
    fresh: { type: 'boolean', default: false },
    api: { type: 'string' },
    workers: { type: 'string' },
  };
  try {
    const { values } = parseArgs({ options });
    return {
      fresh: values.fresh,
      apis: countOf('api', values.api),
      workers: countOf('workers', values.workers),
    };
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      `${error.message}\nOptions: --fresh (empties .run first), --api N and --workers N (number of processes, 1 to ${MAX_PROCESSES}).`,
    );
  }
}

function countOf(name, text = '1') {
  const count = Number(text);
  if (/^\d$/.test(text) && count >= 1 && count <= MAX_PROCESSES) return count;
  throw new UserError(`--${name} takes a number from 1 to ${MAX_PROCESSES}, not ${text}.`);
}

/** PORT, 8080 by default. Throws a UserError. */
export function readPort() {
  const port = process.env.PORT || '8080';
  if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65535)
    throw new UserError(`PORT must be a number from 1 to 65535, not ${port}.`);
  return Number(port);
}

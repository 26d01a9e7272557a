import { parseArgs } from 'node:util';

export interface Options {
  /** Names of rows or their first words. Empty: all rows. */
  readonly rows: readonly string[];
  /** Measured time of each row, after the warm-up. */
  readonly seconds: number;
  readonly warmUpS: number;
  /** How often each row is measured. The results are those of the run with the median ratio. */
  readonly repeat: number;
  /** Adds the ledger of ten million entries. */
  readonly isFull: boolean;
  /** Small ledgers and short runs, to see that everything works. The figures mean little. */
  readonly isQuick: boolean;
  /** Writes CPU profiles of API and worker, which slows them down. */
  readonly isProfiled: boolean;
}

export const USAGE = `npm run bench -- [ROW…] [--seconds N] [--repeat N] [--full] [--quick] [--profile]
npm run bench -- [ROW…] --against COMMIT [--rounds N] [--seconds N]

  ROW          only these rows: their names or the first words of their names (default: all)
  --seconds N  measured time of each row (default 10), after a warm-up of half of it
  --repeat N   measures each row N times (default 1) and prints the run with the median ratio, and the lowest and the highest
  --full       also measures on a ledger of ten million entries, which takes about ten minutes to make, once
  --quick      small ledgers and short runs, to see that everything works; not for comparing
  --profile    writes CPU profiles of API and worker beside the results and prints where its time went
  --against    measures the rows in turn at the commit and here, 5 times each or as often as --rounds says, and compares the medians`;

const DEFAULT_SECONDS = 10;
const QUICK_SECONDS = 2;

/** Throws an Error whose message is for the user. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      repeat: { type: 'string', default: '1' },
      full: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      profile: { type: 'boolean', default: false },
    },
  });
  const seconds = Number(values.seconds ?? (values.quick ? QUICK_SECONDS : DEFAULT_SECONDS));
  if (!(seconds > 0)) throw new Error('--seconds must be a number above 0');
  const repeat = Number(values.repeat);
  if (!Number.isInteger(repeat) || repeat < 1)
    throw new Error('--repeat must be a whole number above 0');
  return {
    rows: positionals,
    seconds,
    warmUpS: seconds / 2,
    repeat,
    isFull: values.full,
    isQuick: values.quick,
    isProfiled: values.profile,
  };
}

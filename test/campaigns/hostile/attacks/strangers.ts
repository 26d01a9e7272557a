import assert from 'node:assert/strict';
import { csvOf } from '../../../batches/support.js';
import { object } from '../../../helpers/bank.js';
import type { PayrollBank } from '../../../helpers/batch-workflows.js';
import { newId } from '../../../../src/core/ids.js';
import { systemClock } from '../../../../src/core/instant.js';
import { payoutRailEvents } from '../../../../src/db/entities/payouts.js';
import { railHeaders } from '../../../../src/payouts/rails/wire.js';
import { type Attack, RAIL, RAIL_KEY } from '../battlefield.js';

/** Asking about people whom one does not know, and speaking for a bank that one is not. */

const ATTACK_MS = 40_000;
const LANES = 4;

/** How often each answer came. */
type Answers = Map<string, number>;

async function inLanes(
  isOver: () => boolean,
  ask: (number: number) => Promise<string>,
): Promise<Answers> {
  const answers: Answers = new Map();
  let asked = 0;
  const lane = async (): Promise<void> => {
    while (!isOver()) {
      const answer = await ask((asked += 1));
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return answers;
}

const inWords = (answers: Answers): string =>
  Array.from(answers, ([answer, count]) => `${count} times ${answer}`).join(', ');

const GUESSED_FILES = 6;
/** More than the budget of new recipients, all files together. */
const GUESSED_ROWS = 20_000;
/** Validated long before, with a worker that does nothing else. */
const REFUSED_WITHIN_MS = 180_000;

/** Who is a customer is asked by files and by single bonuses, without the scope that looks people up. */
export const guessedRecipients: Attack = {
  name: 'guessed recipients',
  run: async (field) => {
    const [attacker] = await field.attackers(1);
    for (let file = 0; file < GUESSED_FILES; file += 1) await attacker!.upload(guesses(file));
    const began = performance.now();
    let refused = 0;
    const isOver = (): boolean => {
      const ms = performance.now() - began;
      return ms > ATTACK_MS && (refused > 0 || ms > REFUSED_WITHIN_MS);
    };
    const answers = await inLanes(isOver, async (number) => {
      const answer = await bonusTo(attacker!, `+573${(200_000_000 + number).toString()}`);
      if (answer === '429 rate_limited') refused += 1;
      return answer;
    });
    assert(refused > 0, `nothing was refused: ${inWords(answers)}`);
    return `${GUESSED_FILES} files of ${GUESSED_ROWS} guessed phones, and single bonuses: ${inWords(answers)}`;
  },
};

function guesses(file: number): Buffer {
  const phone = (row: number): string =>
    `+573${(100_000_000 + file * GUESSED_ROWS + row).toString()}`;
  return csvOf(
    Array.from({ length: GUESSED_ROWS }, (_, row) => [
      phone(row),
      '100000',
      'COPM',
      null,
      `r${row}`,
    ]),
  );
}

async function bonusTo({ bank, source }: PayrollBank, phone: string): Promise<string> {
  const body = {
    source_account: source.id,
    recipient: { phone },
    amount: { raw: '100000', asset: 'COPM' },
  };
  const { status, code } = await bank.request('POST', '/v1/bonuses', { body });
  return `${status} ${code ?? ''}`;
}

const PATH = `/rails/${RAIL}/callbacks`;

/** Repeats forged callbacks, and one that a bank did send. */
export const callbackFlood: Attack = {
  name: 'callback flood',
  run: async (field) => {
    const key = newId();
    const body = JSON.stringify({
      id: `cb-${key}`,
      key,
      status: 'completed',
      reference: 'R1',
      failure: null,
    });
    const genuine = railHeaders(
      RAIL_KEY,
      { method: 'POST', path: PATH, body: Buffer.from(body) },
      systemClock(),
    );
    const forged = { ...genuine, 'rail-signature': '0'.repeat(64) };
    const rows = async (): Promise<number> =>
      (await field.db.database.reader.select(payoutRailEvents, {})).length;
    const before = await rows();
    const until = performance.now() + ATTACK_MS;
    const answers = await inLanes(
      () => performance.now() > until,
      async (number) => {
        const headers = number % 2 === 0 ? genuine : forged;
        const { status, json } = await field.request('POST', PATH, { body, key: null, headers });
        return `${status} ${String(object(json.error).code)}`;
      },
    );
    assert.equal(await rows(), before + 1, `rows were written: ${inWords(answers)}`);
    return `one row of ${inWords(answers)}`;
  },
};

import type { Guide } from '../core/guide.js';
import { FAILURES } from './rails/rules.js';
import { SCENARIOS } from './rails/scenarios.js';

/** The docs page about payouts, for tenants: made from what the code does. */
export const payoutGuide: Guide = {
  path: '/payouts',
  title: 'Payouts',
  sections: [
    {
      title: 'States',
      paragraphs: [
        'A payout passes each state at most once, and `status_transitions` lists those that it went through: what the events told can be rebuilt from `GET /v1/payouts/{id}` alone.',
        'It can be canceled while it is `pending_approval` or `approved`. From `in_progress` on the bank may have it. Its outcome is never guessed: while nobody knows what became of it, it stays `in_progress`.',
        'Rarely a bank pays what it had refused. Such a payout goes from `failed` to `completed`: its amount and fee leave the account again, and `payout.completed` follows `payout.failed`.',
      ],
      table: {
        head: ['State', 'Money', 'Event'],
        rows: [
          ['`pending_approval`', 'amount and fee are held', '–'],
          ['`approved`', 'held', '`payout.approved`'],
          ['`in_progress`', 'held', '–'],
          ['`completed`', 'a movement `payout_out`, and `fee_out` for the fee', '`payout.completed`'],
          ['`returned`', 'the amount comes back as `adjustment_in`; the fee does not', '`payout.returned`'],
          ['`failed`', 'released', '`payout.failed`'],
          ['`rejected`', 'released', '`payout.rejected`'],
          ['`canceled`', 'released', '`payout.canceled`'],
        ],
      },
    },
    {
      title: 'Failures',
      paragraphs: [
        '`failure.code` of a payout that failed or was returned. One that nobody approved in time is canceled with `approval_expired`.',
      ],
      table: {
        head: ['Code', 'Meaning'],
        rows: Object.entries(FAILURES).map(([code, meaning]) => [`\`${code}\``, meaning]),
      },
    },
    {
      title: 'The simulated rail',
      paragraphs: [
        'Where the operator has set up the simulated rail, what happens follows from the last two characters of the account number. No bank hears of it.',
      ],
      table: {
        head: ['Ending', 'What happens', 'States'],
        rows: SCENARIOS.map(({ ending, meaning, shown }) => [
          ending === null ? 'any other' : `\`${ending}\``,
          meaning,
          shown,
        ]),
      },
    },
  ],
};

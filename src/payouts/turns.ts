import { existing } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Reader } from '../db/database.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import type { RailBreakers } from './breaker/breakers.js';
import { isUnfinished } from './rules.js';
import type { Submissions } from './submission.js';

export interface Turn {
  readonly payout: Payout;
  /**
   * It had no turn, or was asked about in vain: the rail does not answer, or its account may not send, so the payout
   * waits unchanged, and no attempt is counted.
   */
  readonly isHeld: boolean;
  /** Of these, its account may not send. */
  readonly isFrozen?: boolean;
}

/** Brings payouts to their rails, but not to one that does not answer. (docs/contract.md, Rails) */
export class RailTurns {
  constructor(
    private readonly submissions: Pick<Submissions, 'submit' | 'ask'>,
    private readonly breakers: Pick<RailBreakers, 'isClosed'>,
    private readonly reader: Reader,
  ) {}

  /** Like Submissions.submit. */
  submit(id: Uuid): Promise<Turn> {
    return this.take(id, () => this.submissions.submit(id));
  }

  ask(id: Uuid): Promise<Turn> {
    return this.take(id, () => this.submissions.ask(id));
  }

  private async take(id: Uuid, call: () => ReturnType<Submissions['submit']>): Promise<Turn> {
    const payout = existing(await this.reader.find(payouts, { id }));
    if (isUnfinished(payout) && !(await this.breakers.isClosed(payout.rail)))
      return { payout, isHeld: true };
    const { payout: handed, isFrozen } = await call();
    return { payout: handed, isHeld: isFrozen, isFrozen };
  }
}

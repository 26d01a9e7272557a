import { Foundation1763683200000 } from './1763683200000-foundation.js';
import { AccountsAndAccess1763690000000 } from './1763690000000-accounts-and-access.js';
import { Bonuses1763720000000 } from './1763720000000-bonuses.js';
import { BonusBatches1763720100000 } from './1763720100000-bonus-batches.js';

/** Every change of the schema, oldest first. */
export const migrations = [
  Foundation1763683200000,
  AccountsAndAccess1763690000000,
  Bonuses1763720000000,
  BonusBatches1763720100000,
];

import { Foundation1763683200000 } from './1763683200000-foundation.js';
import { AccountsAndAccess1763690000000 } from './1763690000000-accounts-and-access.js';
import { Webhooks1763710000000 } from './1763710000000-webhooks.js';

/** Every change of the schema, oldest first. */
export const migrations = [Foundation1763683200000, AccountsAndAccess1763690000000, Webhooks1763710000000];
